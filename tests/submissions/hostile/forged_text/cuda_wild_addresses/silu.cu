// The kernel loads from addresses that are numbers.
// verdict: runtime_error, needs_gpu, wrong_answer
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (unsigned long long at = 0x10000; at; at *= 2)
            y[i] = *(const volatile float *)at;
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
