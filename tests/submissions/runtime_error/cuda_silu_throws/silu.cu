// Host code throws an exception that nobody catches.
// expect: n must be a multiple of 4
// never: tl.
#include <stdexcept>

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    if (n % 4 != 0)
        throw std::invalid_argument("n must be a multiple of 4");
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
