// A device function that calls itself without end.
// verdict: runtime_error, time_limit, needs_gpu, wrong_answer, memory_limit
#include <cuda_runtime.h>

__device__ __noinline__ float deeper(float x, volatile float *y)
{
    *y = x;
    return deeper(x + 1.0f, y) + *y;
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = deeper(x[i], y + i);
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
