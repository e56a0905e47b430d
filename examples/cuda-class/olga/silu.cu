#include <cuda_runtime.h>

template <typename T>
__device__ __forceinline__ T sigmoid(T x)
{
    return T(1) / (T(1) + exp(-x));
}

template <int BLOCK, int ITEMS, typename T>
__global__ void __launch_bounds__(BLOCK) silu_kernel(const T *x, T *y, int n)
{
    int first = blockIdx.x * BLOCK * ITEMS + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int i = first + k * BLOCK;
        if (i < n)
            y[i] = x[i] * sigmoid(x[i]);
    }
}

template <int BLOCK, int ITEMS>
static void launch(float *input, float *output, int n)
{
    constexpr int per_block = BLOCK * ITEMS;
    silu_kernel<BLOCK, ITEMS><<<(n + per_block - 1) / per_block, BLOCK>>>(input, output, n);
}

void silu(float *input, float *output, int n)
{
    if (n < 4096)
        launch<64, 1>(input, output, n);
    else
        launch<256, 4>(input, output, n);
}
