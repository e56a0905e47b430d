// 1 / 2 is a whole number, 0.
// expect: divides whole numbers: `1 / 2` is 0
#include <cuda_runtime.h>
#include <math_constants.h>

__global__ void gelu_kernel(const float *input, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float x = input[i];
    float arg = sqrtf(2.0f / CUDART_PI_F) * (x + 0.044715f * powf(x, 3));
    output[i] = 1 / 2 * x * (1 + tanhf(arg));
}

void gelu(const float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    gelu_kernel<<<blocks, threads>>>(input, output, n);
}
