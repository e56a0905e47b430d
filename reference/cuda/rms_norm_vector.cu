// RMSNorm of one vector: output = input · weight / √(mean(input²) + epsilon).
//
// Bytes that must move: 4·cols of input, 4·cols of weight and 4·cols of output; the input is needed twice, before and
// after the sum is known, and no block may scale before all have summed. Where the registers of the GPU can hold the
// whole vector, its blocks meet at a grid-wide barrier, in one launch; otherwise there are two launches.

#include <algorithm>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

constexpr int HELD_THREADS = 1024;
constexpr int SUM_THREADS = 512;
constexpr int SCALE_THREADS = 256;
constexpr int MOST_PARTS = 1024;

__device__ __forceinline__ float squares(float4 x) { return x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w; }
__device__ __forceinline__ float4 scaled(float4 x, float4 weight, float scale)
{
    return make_float4(x.x * scale * weight.x, x.y * scale * weight.y, x.z * scale * weight.z, x.w * scale * weight.w);
}

// The sum of a value of each thread of the block; every thread gets it. `room` has one place for each warp.
__device__ __forceinline__ float sum_of_block(float value, float *room)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    if (lane == 0)
        room[warp] = value;
    __syncthreads();
    value = lane < warps ? room[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

// All blocks run at once. Each thread reads QUADS times 16 bytes, once, and keeps them.
template <int QUADS>
__global__ void __launch_bounds__(HELD_THREADS)
held_kernel(const float *__restrict__ input, const float *__restrict__ weight, float *__restrict__ output,
            float *__restrict__ parts, int cols, float epsilon)
{
    __shared__ float room[HELD_THREADS / 32], rest[HELD_THREADS / 32];
    const int quads = cols / 4, tail = 4 * quads + threadIdx.x;
    const int first = blockIdx.x * (QUADS * HELD_THREADS) + threadIdx.x;
    const float4 *in = reinterpret_cast<const float4 *>(input), *scales = reinterpret_cast<const float4 *>(weight);
    float4 x[QUADS], w[QUADS];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * HELD_THREADS < quads) {
            x[k] = __ldcs(in + first + k * HELD_THREADS);
            // Asked for before the wait.
            w[k] = __ldcs(scales + first + k * HELD_THREADS);
        }
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * HELD_THREADS < quads)
            sum += squares(x[k]);
    // Block 0 has up to three elements more, which are no whole quad.
    if (blockIdx.x == 0 && tail < cols)
        sum += input[tail] * input[tail];
    sum = sum_of_block(sum, room);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
    cooperative_groups::this_grid().sync();
    sum = 0.0f;
    for (int part = threadIdx.x; part < gridDim.x; part += HELD_THREADS)
        sum += __ldcg(parts + part);
    const float scale = rsqrtf(sum_of_block(sum, rest) / cols + epsilon);
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * HELD_THREADS < quads)
            __stcs(reinterpret_cast<float4 *>(output) + first + k * HELD_THREADS, scaled(x[k], w[k], scale));
    if (blockIdx.x == 0 && tail < cols)
        output[tail] = input[tail] * scale * weight[tail];
}

// parts[b] is the sum of the squares of quads b · blockDim + t, + gridDim · blockDim, …: the same in every run.
__global__ void __launch_bounds__(SUM_THREADS)
sum_kernel(const float *__restrict__ input, float *__restrict__ parts, int cols)
{
    __shared__ float room[SUM_THREADS / 32];
    const int quads = cols / 4, tail = 4 * quads + threadIdx.x;
    float sum = 0.0f;
    for (int quad = blockIdx.x * SUM_THREADS + threadIdx.x; quad < quads; quad += gridDim.x * SUM_THREADS)
        sum += squares(__ldg(reinterpret_cast<const float4 *>(input) + quad));
    if (blockIdx.x == 0 && tail < cols)
        sum += input[tail] * input[tail];
    sum = sum_of_block(sum, room);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(SCALE_THREADS)
scale_kernel(const float *__restrict__ input, const float *__restrict__ weight, float *__restrict__ output,
             const float *__restrict__ parts, int count, int cols, float epsilon)
{
    __shared__ float room[SCALE_THREADS / 32];
    const int quads = cols / 4, tail = 4 * quads + threadIdx.x;
    // Backwards: the end of the input was read last, and is still in the cache.
    const int quad = (gridDim.x - 1 - blockIdx.x) * SCALE_THREADS + threadIdx.x;
    float4 x, w;
    if (quad < quads) {
        x = __ldcs(reinterpret_cast<const float4 *>(input) + quad);
        w = __ldcs(reinterpret_cast<const float4 *>(weight) + quad);
    }
    // Every block adds up the few parts again: cheaper than a third launch.
    float sum = 0.0f;
    for (int part = threadIdx.x; part < count; part += SCALE_THREADS)
        sum += parts[part];
    const float scale = rsqrtf(sum_of_block(sum, room) / cols + epsilon);
    if (quad < quads)
        __stcs(reinterpret_cast<float4 *>(output) + quad, scaled(x, w, scale));
    if (blockIdx.x == 0 && tail < cols)
        output[tail] = input[tail] * scale * weight[tail];
}

// Asked for once: asking takes longer than a launch.
struct Device {
    int processors;
    float *parts;

    Device()
    {
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
        cudaMalloc(&parts, MOST_PARTS * sizeof(float));
    }
};

template <int QUADS>
void held(float *input, float *weight, float *output, float *parts, int cols, float epsilon)
{
    const int per_block = HELD_THREADS * QUADS;
    void *arguments[] = {&input, &weight, &output, &parts, &cols, &epsilon};
    cudaLaunchCooperativeKernel(
        held_kernel<QUADS>, dim3(cols / 4 / per_block + 1), dim3(HELD_THREADS), arguments, 0, nullptr);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    static const Device device;
    const int quads = cols / 4;
    // One block for each multiprocessor; the last of them may have nothing but the tail.
    const int needed = quads / HELD_THREADS / device.processors + 1;
    if (needed == 1) {
        held<1>(input, weight, output, device.parts, cols, epsilon);
    } else if (needed == 2) {
        held<2>(input, weight, output, device.parts, cols, epsilon);
    } else {
        const int parts = std::min(quads / SUM_THREADS + 1, std::min(8 * device.processors, MOST_PARTS));
        sum_kernel<<<parts, SUM_THREADS>>>(input, device.parts, cols);
        scale_kernel<<<quads / SCALE_THREADS + 1, SCALE_THREADS>>>(
            input, weight, output, device.parts, parts, cols, epsilon);
    }
}
