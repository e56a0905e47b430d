// Four elements a thread; the last ones by themselves.
#include <cuda_runtime.h>

__device__ float silu_of(float x) { return x / (1.0f + expf(-x)); }

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        v.x = silu_of(v.x);
        v.y = silu_of(v.y);
        v.z = silu_of(v.z);
        v.w = silu_of(v.w);
        reinterpret_cast<float4 *>(y)[i] = v;
    } else {
        for (int j = 4 * i; j < n; ++j)
            y[j] = silu_of(x[j]);
    }
}

void silu(float *input, float *output, int n)
{
    int quads = (n + 3) / 4;
    silu_kernel<<<(quads + 127) / 128, 128>>>(input, output, n);
}
