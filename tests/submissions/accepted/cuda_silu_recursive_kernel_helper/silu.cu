// A device function that is not inlined, and calls itself.
#include <cuda_runtime.h>

__device__ __noinline__ float power(float base, int exponent)
{
    return exponent == 0 ? 1.0f : base * power(base, exponent - 1);
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + power(expf(-0.25f * x[i]), 4));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
