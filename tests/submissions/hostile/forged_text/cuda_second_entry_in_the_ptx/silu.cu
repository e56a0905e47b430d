// Assembly closes the kernel, and opens another one.
// verdict: runtime_error, wrong_answer, needs_gpu
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("ret; }\n.visible .entry other(.param .u64 x) { .reg .u32 %r0;");
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
