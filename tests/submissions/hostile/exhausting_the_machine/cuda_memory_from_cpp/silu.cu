// Grows a list of blocks, and writes to each page, 64 GB at most.
// verdict: memory_limit, wrong_answer, runtime_error, time_limit
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    for (int i = 0; i < 1024; ++i) {
        void *block = malloc(64 << 20);
        if (block != nullptr)
            memset(block, 1, 64 << 20);
    }
}
