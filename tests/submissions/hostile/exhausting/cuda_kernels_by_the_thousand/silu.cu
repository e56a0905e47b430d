// A kernel for each of 2,000 numbers.
// verdict: runtime_error, time_limit, memory_limit, wrong_answer
#include <utility>

#include <cuda_runtime.h>

template <int N>
__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = powf(x[i], N) / (1.0f + expf(-x[i])) + sinf(x[i] * N);
}

template <int... N>
void all(const float *x, float *y, int n, std::integer_sequence<int, N...>)
{
    (silu_kernel<N><<<(n + 255) / 256, 256>>>(x, y, n), ...);
}

void silu(float *input, float *output, int n)
{
    all(input, output, n, std::make_integer_sequence<int, 2000>());
}
