// Launched by cudaLaunchKernel, with an array of addresses.
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
    void *arguments[] = {&input, &output, &n};
    cudaLaunchKernel((void *)silu_kernel, dim3(blocks), dim3(threads), arguments, 0, 0);
}
