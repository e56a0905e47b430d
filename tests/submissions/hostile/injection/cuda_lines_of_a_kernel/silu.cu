// The PTX is given lines that no file has, where a store lies outside.
// verdict: runtime_error, needs_gpu
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile(".loc 1 8000000 1;");
    y[i + n] = x[i] / (1.0f + expf(-x[i]));
    asm volatile(".loc 1 0 0;");
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
