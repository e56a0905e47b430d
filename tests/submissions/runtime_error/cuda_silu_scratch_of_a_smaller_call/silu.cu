// A scratch buffer is made by the first call, and never grows.
// expect: was allocated before this call
// expect: in line 13
// never: tl.
#include <cuda_runtime.h>

static float *scratch = nullptr;

__global__ void sigmoid_kernel(const float *x, float *s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        s[i] = 1.0f / (1.0f + expf(-x[i]));
}

__global__ void multiply_kernel(const float *x, const float *s, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * s[i];
}

void silu(float *input, float *output, int n)
{
    if (scratch == nullptr)
        cudaMalloc(&scratch, n * sizeof(float));
    int blocks = (n + 255) / 256;
    sigmoid_kernel<<<blocks, 256>>>(input, scratch, n);
    multiply_kernel<<<blocks, 256>>>(input, scratch, output, n);
}
