// The cubic term is forgotten.
// expect: cube is missing
// never: tl.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float u = 0.7978845608f * v;
        y[i] = 0.5f * v * (1.0f + tanhf(u));
    }
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
