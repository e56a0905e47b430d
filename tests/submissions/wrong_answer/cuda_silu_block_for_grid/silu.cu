// Blocks and threads are exchanged in the launch: right as long as both fit.
// expect: never written
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
    int threads = 64;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<threads, blocks < 1024 ? blocks : 1024>>>(input, output, n);
}
