// exp2 as an instruction of the machine.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float power;
        asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(-1.4426950408889634f * x[i]));
        y[i] = __fdividef(x[i], 1.0f + power);
    }
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
