// Writes a file until the disk is full.
// verdict: runtime_error, wrong_answer, time_limit, memory_limit
#include <cstdio>

#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    static char zeros[1 << 20];
    FILE *file = fopen("kernelmark-hostile-disk", "wb");
    for (int i = 0; file != nullptr && i < 1 << 20; ++i)
        if (fwrite(zeros, 1, sizeof zeros, file) != sizeof zeros)
            break;
}
