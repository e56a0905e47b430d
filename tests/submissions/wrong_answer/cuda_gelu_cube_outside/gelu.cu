// The factor multiplies x alone.
// expect: multiplies x alone
// never: tl.
#include <cuda_runtime.h>

#define SQRT_2_OVER_PI 0.7978845608028654f

static __device__ float gelu_tanh(float x)
{
    float u = SQRT_2_OVER_PI * x + 0.044715f * x * x * x;
    return x / (1.0f + expf(-2.0f * u));
}

__global__ void gelu_kernel(const float *in, float *out, int n)
{
    // grid-stride loop
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = gelu_tanh(in[i]);
}

void gelu(float *input, float *output, int n)
{
    int blocks = (n + 127) / 128;
    if (blocks > 1024) blocks = 1024;
    gelu_kernel<<<blocks, 128>>>(input, output, n);
}
