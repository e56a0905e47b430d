// 1 / 2 is 0 in whole numbers, and so is what stands in tanh.
// expect: Line 12 divides whole numbers: `1 / 2` is 0
// never: half of x
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float twice = 1.5957691216f * (v + 0.044715f * v * v * v);
        y[i] = 0.5f * v * (1.0f + tanhf(1 / 2 * twice));
    }
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
