// Kira. float4, four at a time; n % 4 elements at the end by the first threads.
#include <cuda_runtime.h>

__device__ __forceinline__ float act(float v) { return __fdividef(v, 1.0f + __expf(-v)); }

__global__ void silu_vec4(const float4 *__restrict__ in, float4 *__restrict__ out, int n4, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        out[i] = make_float4(act(v.x), act(v.y), act(v.z), act(v.w));
    }
    int tail = 4 * n4 + blockIdx.x * blockDim.x + threadIdx.x;
    if (tail < n)
        ((float *)out)[tail] = act(((const float *)in)[tail]);
}

void silu(float *input, float *output, int n)
{
    int n4 = n / 4;
    int blocks = (n4 + 255) / 256;
    silu_vec4<<<blocks > 0 ? blocks : 1, 256>>>((const float4 *)input, (float4 *)output, n4, n);
}
