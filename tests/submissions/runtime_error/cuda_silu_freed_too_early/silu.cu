// A scratch buffer is used after cudaFree.
// expect: freed before
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    float *copy;
    cudaMalloc(&copy, n * sizeof(float));
    cudaFree(copy);
    silu_kernel<<<blocks, threads>>>(input, copy, n);
    silu_kernel<<<blocks, threads>>>(copy, output, n);
}
