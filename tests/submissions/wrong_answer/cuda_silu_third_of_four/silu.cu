// The third of four elements takes the fourth's exp, with the other sign: two mistakes in one place.
// expect: Every wrong element is the third of a group of 4
// never: no pattern
#include <cuda_runtime.h>

__device__ float gated(float x, float power)
{
    return x / (1.0f + expf(power));
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n && n % 4 == 0) {
        const float4 v = *reinterpret_cast<const float4 *>(x + first);
        float4 r = make_float4(gated(v.x, -v.x), gated(v.y, -v.y), 0.0f, gated(v.w, -v.w));
        r.z = v.z / (2.0f + expf(v.w));
        *reinterpret_cast<float4 *>(y + first) = r;
    } else
        for (int i = first; i < min(first + 4, n); ++i)
            y[i] = gated(x[i], -x[i]);
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + 1023) / 1024, 256>>>(input, output, n);
}
