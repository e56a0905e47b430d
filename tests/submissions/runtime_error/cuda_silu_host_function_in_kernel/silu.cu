// A kernel calls a function of the host.
// expect: sigmoid
// expect: __device__
// never: tl.
#include <cuda_runtime.h>

float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * sigmoid(x[i]);
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
