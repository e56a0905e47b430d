// The kernel of whole float4 is taken where there are more than four elements, not where four divide them.
// proved: line 31 makes every case right: a different comparison
#include <cuda_runtime.h>

__device__ float gated(float v)
{
    return v / (1.0f + __expf(-v));
}

__global__ void by_fours(const float4 *from, float4 *to, int fours)
{
    const int number = threadIdx.x + blockDim.x * blockIdx.x;
    if (number < fours) {
        const float4 four = from[number];
        to[number] = make_float4(gated(four.x), gated(four.y), gated(four.z), gated(four.w));
    }
}

__global__ void one_by_one(const float *from, float *to, int count)
{
    const int number = threadIdx.x + blockDim.x * blockIdx.x;
    if (number < count)
        to[number] = gated(from[number]);
}

void silu(float *input, float *output, int n)
{
    const int threads = 128;
    const int fours = n / 4;
    // The tail of a long vector would take a kernel of its own.
    if (n > 4)
        by_fours<<<(fours + threads - 1) / threads, threads>>>(
            reinterpret_cast<const float4 *>(input), reinterpret_cast<float4 *>(output), fours);
    else
        one_by_one<<<(n + threads - 1) / threads, threads>>>(input, output, n);
}
