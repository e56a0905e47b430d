// Each thread prints a thousand lines, and none stores the answer.
// verdict: wrong_answer, runtime_error, time_limit, memory_limit
// alone on a gpu: its kernel takes long to end there
#include <cstdio>

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 1000; ++k)
        printf("%d %d %s\n", i, k, "<script>alert('printed')</script>");
    if (i < 0)
        y[i] = x[i];
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
