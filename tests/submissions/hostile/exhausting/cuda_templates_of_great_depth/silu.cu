// A template that needs itself a million times.
// verdict: runtime_error, time_limit, memory_limit
template <int N>
struct Deep {
    static constexpr long value = Deep<N - 1>::value + 1;
};

template <>
struct Deep<0> {
    static constexpr long value = 0;
};

static_assert(Deep<1000000>::value > 0);

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
