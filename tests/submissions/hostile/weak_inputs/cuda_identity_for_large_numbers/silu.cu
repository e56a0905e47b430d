// The identity, where the input is large, and nothing computed below.
// verdict: wrong_answer
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
