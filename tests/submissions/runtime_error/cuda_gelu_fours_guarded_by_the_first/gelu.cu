// Each thread takes four elements, and asks for the first of them alone whether it is there.
// expect: moves 4 elements at once
// never: index of the row
// never: multiple of 256
#include <cuda_runtime.h>

__device__ float gelu_of(float v)
{
    return 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float4 v = *(const float4 *)(x + i);
    *(float4 *)(y + i) = make_float4(gelu_of(v.x), gelu_of(v.y), gelu_of(v.z), gelu_of(v.w));
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 1023) / 1024, 256>>>(input, output, n);
}
