// ^ is taken for a power.
// expect: integral
// expect: ^ is an exclusive or, not a power
// never: pointer
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] ^ 3)));
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
