// The bits of the sign by a table in constant memory.
#include <cuda_runtime.h>

__constant__ float signs[2] = {1.0f, -1.0f};

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(signs[1] * x[i] * signs[0]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
