// As many blocks as are useful, each in a loop.
#include <algorithm>

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = x[i] * (1.0f / (1.0f + __expf(-x[i])));
}

void silu(float *input, float *output, int n)
{
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    int blocks = std::min((n + 255) / 256, 8 * properties.multiProcessorCount);
    silu_kernel<<<blocks, 256>>>(input, output, n);
}
