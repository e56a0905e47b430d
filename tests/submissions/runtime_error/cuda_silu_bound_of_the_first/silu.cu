// A thread takes four elements, and the condition is that of the first one.
// expect: compares `i`, and the index in line 11 holds `i + k * T`, in which a loop counts `k`
// never: right size
#include <cuda_runtime.h>

const int T = 128;

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * T * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) if (i < n) y[i + k * T] = x[i + k * T] / (1.f + expf(-x[i + k * T]));
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + T * 4 - 1) / (T * 4), T>>>(input, output, n);
}
