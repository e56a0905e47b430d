// A block of 64×32 threads: 2,048 in all.
// expect: 2048
// expect: 1 to 1024 threads
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    dim3 threads(64, 32);
    int blocks = (n + 2047) / 2048;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
