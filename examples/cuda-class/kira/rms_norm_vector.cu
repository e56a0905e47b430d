// Kira. Pass 1 leaves one partial sum per block, pass 2 adds them and scales.
#include <cuda_runtime.h>

constexpr int BLOCK = 512;
constexpr int PARTS = 512;

__device__ float block_sum(float v)
{
    __shared__ float warp_sums[BLOCK / 32];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0)
        warp_sums[threadIdx.x >> 5] = v;
    __syncthreads();
    v = warp_sums[threadIdx.x & (BLOCK / 32 - 1)];
    for (int d = BLOCK / 64; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void partial(const float *__restrict__ x, float *__restrict__ parts, int n)
{
    float s = 0.0f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        s += x[i] * x[i];
    s = block_sum(s);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = s;
}

__global__ void scale(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ parts, int count,
                      float *__restrict__ y, int n, float eps)
{
    float s = 0.0f;
    for (int i = threadIdx.x; i < count; i += BLOCK)
        s += parts[i];
    float r = rsqrtf(block_sum(s) / n + eps);
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        y[i] = x[i] * r * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    static float *parts = nullptr;
    if (parts == nullptr)
        cudaMalloc(&parts, PARTS * sizeof(float));
    int blocks = (cols + BLOCK - 1) / BLOCK;
    int count = blocks < PARTS ? blocks : PARTS;
    partial<<<count, BLOCK>>>(input, parts, cols);
    scale<<<blocks < 4 * PARTS ? blocks : 4 * PARTS, BLOCK>>>(input, weight, parts, count, output, cols, epsilon);
}
