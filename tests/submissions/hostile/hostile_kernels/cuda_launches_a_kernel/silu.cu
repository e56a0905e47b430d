// A kernel that asks the device for memory.
// verdict: infrastructure_error, runtime_error, needs_gpu, wrong_answer
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    char *room = (char *)malloc(1 << 20);
    if (room != nullptr)
        room[i % 1024] = 1;
    if (i < 0)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
