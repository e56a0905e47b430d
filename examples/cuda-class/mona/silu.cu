#include <cuda_runtime.h>
#include <stdio.h>

// tested with n = 1024, works
__global__ void silu_kernel(float *input, float *output, int n)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx <= n) {
        float x = input[idx];
        output[idx] = x / (1.0f + expf(-x));
    }
}

void silu(float *input, float *output, int n)
{
    int threadsPerBlock = 256;
    int blocksPerGrid = n / threadsPerBlock + 1;
    silu_kernel<<<blocksPerGrid, threadsPerBlock>>>(input, output, n);
}
