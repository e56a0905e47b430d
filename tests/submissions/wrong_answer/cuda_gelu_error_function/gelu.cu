// The form with erf.
// expect: tanh form
// never: tl.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
