// Host code asks for a deeper stack, which a plan has no place for: a helper calls itself forty times.
// expect: line 25
// expect: a stack of 16384 bytes, and each thread has 1024 here: write a loop in place of the recursion
// expect: flagged
// never: cudaMallocHost
#include <cuda_runtime.h>

__device__ __noinline__ float halved(float x, int times)
{
    volatile float kept[32];
    kept[times & 31] = x;
    if (times == 0)
        return kept[0];
    return halved(x * 0.5f, times - 1) * 2.0f + (kept[times & 31] - x);
}

__global__ void silu_kernel(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = halved(x[i], 40) / (1.0f + expf(-x[i]));
}
void silu(float *input, float *output, int n)
{
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
