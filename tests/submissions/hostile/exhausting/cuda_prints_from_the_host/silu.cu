// Prints lines without end.
// verdict: time_limit, runtime_error
#include <cstdio>

#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    for (;;)
        puts("0123456789012345678901234567890123456789012345678901234567890123456789");
}
