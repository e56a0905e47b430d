// Calls itself without end.
// verdict: runtime_error
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

static int deeper(volatile int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1;
    return deeper(depth + 1) + room[0];
}

void silu(float *input, float *output, int n)
{
    int threads = 256 + deeper(0);
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
