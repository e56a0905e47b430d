// v ^ 3, with the exponents of a calculator, of the whole number.
// expect: x³
// never: tl.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float u = 0.7978845608f * (v + 0.044715f * ((int)v ^ 3));
        y[i] = 0.5f * v * (1.0f + tanhf(u));
    }
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
