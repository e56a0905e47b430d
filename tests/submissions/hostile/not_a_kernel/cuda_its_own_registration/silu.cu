// The file has a __cudaRegisterFunction of its own: the recorder hears of no kernel.
// verdict: runtime_error, wrong_answer
#include <cuda_runtime.h>

extern "C" void **__cudaRegisterFatBinary(void *)
{
    static void *nothing;
    return &nothing;
}

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
