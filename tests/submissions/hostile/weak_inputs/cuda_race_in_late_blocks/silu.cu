// Only the first blocks wait for their other warps: those behind them read what may not be there.
// verdict: wrong_answer, runtime_error
// expect: __syncthreads()
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    if (blockIdx.x < 16)
        __syncthreads();
    float v = part[255 - threadIdx.x];
    int j = blockIdx.x * 256 + 255 - threadIdx.x;
    if (j < n)
        y[j] = v / (1.0f + expf(-v));
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
