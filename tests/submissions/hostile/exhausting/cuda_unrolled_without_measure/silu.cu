// Loops that are to be unrolled into ten million steps.
// verdict: runtime_error, time_limit, memory_limit, wrong_answer
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
#pragma unroll
    for (int a = 0; a < 1000; ++a) {
#pragma unroll
        for (int b = 0; b < 100; ++b) {
#pragma unroll
            for (int c = 0; c < 100; ++c)
                v = sinf(v) * (a ^ b) + cosf(v + c);
        }
    }
    if (i < n)
        y[i] = v;
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
