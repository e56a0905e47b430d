// Assembly with directives: another target, sections, variables outside all memory.
// verdict: runtime_error, wrong_answer, needs_gpu, memory_limit
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("{ .shared .align 16 .b8 room[1073741824]; }");
    asm volatile("{ .local .align 16 .b8 stack[1073741824]; }");
    asm volatile(".pragma \"nounroll\";");
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
