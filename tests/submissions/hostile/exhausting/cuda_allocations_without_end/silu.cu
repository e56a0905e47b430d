// Allocates device memory for ever, a byte at a time.
// verdict: time_limit, runtime_error, memory_limit
#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    void *pointer;
    for (;;)
        cudaMalloc(&pointer, 1);
}
