// The last element of an odd number is looked for at the number of pairs.
// expect: is the number of whole groups of 2
// never: Work out its number
#include <cuda_runtime.h>

__device__ float silu_of(float v)
{
    return v / (1.f + expf(-v));
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, pairs = n / 2;
    if (i < pairs) {
        float2 v = ((const float2 *)x)[i];
        ((float2 *)y)[i] = make_float2(silu_of(v.x), silu_of(v.y));
    }
    if (i == 0 && n % 2)
        y[pairs] = silu_of(x[pairs]);
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<n / 512 + 1, 256>>>(input, output, n);
}
