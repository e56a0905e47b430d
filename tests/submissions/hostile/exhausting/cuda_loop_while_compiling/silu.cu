// A loop of 2⁶² steps that the compiler is to run.
// verdict: runtime_error, time_limit, memory_limit
constexpr unsigned long count()
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 1ul << 31; ++i)
        for (unsigned long j = 0; j < 1ul << 31; ++j)
            sum += i ^ j;
    return sum;
}

static_assert(count() != 1);

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
