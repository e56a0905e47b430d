// Four elements a thread, rounded up: the last thread goes up to three too far.
// expect: in line 14
// expect: outside of x
// never: steps by
// never: tl.
#include <cuda_runtime.h>

__device__ float silu_of(float x) { return x / (1.0f + expf(-x)); }

__global__ void silu_kernel(const float4 *x, float4 *y, int quads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quads) {
        float4 v = x[i];
        y[i] = make_float4(silu_of(v.x), silu_of(v.y), silu_of(v.z), silu_of(v.w));
    }
}

void silu(float *input, float *output, int n)
{
    int quads = (n + 3) / 4;
    silu_kernel<<<(quads + 255) / 256, 256>>>((float4 *)input, (float4 *)output, quads);
}
