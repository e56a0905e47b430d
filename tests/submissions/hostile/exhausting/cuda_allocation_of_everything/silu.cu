// Asks for nearly all bytes that there are, and stores to the last.
// verdict: memory_limit, runtime_error, wrong_answer
#include <cuda_runtime.h>

__global__ void store_kernel(char *at) { *at = 1; }

void silu(float *input, float *output, int n)
{
    char *all = nullptr;
    cudaMalloc(&all, ~0ull - 4096);
    store_kernel<<<1, 1>>>(all + ~0ull / 2);
    cudaMalloc(&all, 1ull << 62);
    store_kernel<<<1, 1>>>(all + (1ull << 61));
}
