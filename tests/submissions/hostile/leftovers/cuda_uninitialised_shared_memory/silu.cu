// Shared memory is read before it is written: what an earlier kernel left there may be the answer.
// verdict: wrong_answer
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        {
        __shared__ volatile float left[256];
        y[i] = left[threadIdx.x];
        left[threadIdx.x] = x[i];
    }
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
