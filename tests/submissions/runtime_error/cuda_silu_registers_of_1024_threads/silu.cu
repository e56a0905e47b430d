// Each of 1,024 threads keeps 96 elements: no block has as many registers.
// expect: registers, where a block has 65,536 registers at most
// expect: __launch_bounds__
#include <cuda_runtime.h>

constexpr int KEPT = 96;
constexpr int THREADS = 1024;

__global__ void silu_kernel(const float *x, float *y, int n)
{
    float kept[KEPT];
    const int first = blockIdx.x * THREADS * KEPT + threadIdx.x;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        kept[i] = first + i * THREADS < n ? x[first + i * THREADS] : 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        if (first + i * THREADS < n)
            y[first + i * THREADS] = kept[i] / (1.0f + expf(-kept[i]));
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + THREADS * KEPT - 1) / (THREADS * KEPT), THREADS>>>(input, output, n);
}
