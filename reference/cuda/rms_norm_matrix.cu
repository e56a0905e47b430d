// RMSNorm of each row: output[i, j] = input[i, j] · weight[j] / √(mean over j of input[i, j]² + epsilon).
//
// Bytes that must move: 4·rows·cols in and as many out; the weight stays in the cache. A row that fits into the
// registers of a block is read once. Short rows get a warp each, and no barrier; rows longer than a block can hold
// are read twice.

#include <cuda_runtime.h>

// Vectors of a row that a thread keeps: enough loads under way at once, and registers for as many threads as there can
// be.
template <typename Vector>
constexpr int ITEMS = sizeof(Vector) == sizeof(float4) ? 4 : 8;
constexpr int MAX_THREADS = 1024;
constexpr int SHORT_ROWS = 4;

__device__ __forceinline__ float squares(float x) { return x * x; }
__device__ __forceinline__ float squares(float4 x) { return x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w; }
__device__ __forceinline__ float scaled(float x, float weight, float scale) { return x * scale * weight; }
__device__ __forceinline__ float4 scaled(float4 x, float4 weight, float scale)
{
    return make_float4(x.x * scale * weight.x, x.y * scale * weight.y, x.z * scale * weight.z, x.w * scale * weight.w);
}

// The sum over the threads that share a row: all of a block, or one warp of it. Every thread gets it.
template <int THREADS>
__device__ __forceinline__ float sum_of_row(float value)
{
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lane);
    if constexpr (THREADS > 32) {
        __shared__ float parts[THREADS / 32];
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = threadIdx.x % 32 < THREADS / 32 ? parts[threadIdx.x % 32] : 0.0f;
#pragma unroll
        for (int lane = 16; lane > 0; lane /= 2)
            value += __shfl_xor_sync(0xffffffff, value, lane);
    }
    return value;
}

// blockDim is (THREADS, rows of a block). `width` counts vectors of a row, at most THREADS * ITEMS<Vector>.
template <typename Vector, int THREADS>
__global__ void __launch_bounds__(THREADS * (THREADS == 32 ? SHORT_ROWS : 1))
held_kernel(const Vector *__restrict__ input, const Vector *__restrict__ weight, Vector *__restrict__ output, int rows,
            int width, int cols, float epsilon)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    // The same for all threads of a warp.
    if (row >= rows)
        return;
    input += size_t(row) * width;
    output += size_t(row) * width;
    Vector held[ITEMS<Vector>], weights[ITEMS<Vector>];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k) {
        const int column = k * THREADS + threadIdx.x;
        if (column < width)
            held[k] = input[column];
    }
    // Asked for before the sum waits for all threads.
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k) {
        const int column = k * THREADS + threadIdx.x;
        if (column < width)
            weights[k] = weight[column];
    }
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k)
        if (k * THREADS + threadIdx.x < width)
            sum += squares(held[k]);
    const float scale = rsqrtf(sum_of_row<THREADS>(sum) / cols + epsilon);
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k) {
        const int column = k * THREADS + threadIdx.x;
        if (column < width)
            output[column] = scaled(held[k], weights[k], scale);
    }
}

template <typename Vector>
__global__ void __launch_bounds__(MAX_THREADS)
long_kernel(const Vector *__restrict__ input, const Vector *__restrict__ weight, Vector *__restrict__ output, int width,
            int cols, float epsilon)
{
    input += size_t(blockIdx.x) * width;
    output += size_t(blockIdx.x) * width;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < width; column += MAX_THREADS)
        sum += squares(input[column]);
    const float scale = rsqrtf(sum_of_row<MAX_THREADS>(sum) / cols + epsilon);
    for (int column = threadIdx.x; column < width; column += MAX_THREADS)
        output[column] = scaled(input[column], weight[column], scale);
}

template <typename Vector, int THREADS>
void launch(const float *input, const float *weight, float *output, int rows, int cols, float epsilon)
{
    const int width = cols / int(sizeof(Vector) / sizeof(float));
    const auto *in = reinterpret_cast<const Vector *>(input), *scales = reinterpret_cast<const Vector *>(weight);
    auto *out = reinterpret_cast<Vector *>(output);
    if constexpr (THREADS > MAX_THREADS) {
        long_kernel<<<rows, MAX_THREADS>>>(in, scales, out, width, cols, epsilon);
    } else if (width > THREADS * ITEMS<Vector>) {
        launch<Vector, 2 * THREADS>(input, weight, output, rows, cols, epsilon);
    } else {
        const int rows_of_block = THREADS == 32 ? SHORT_ROWS : 1;
        held_kernel<Vector, THREADS><<<(rows - 1) / rows_of_block + 1, dim3(THREADS, rows_of_block)>>>(
            in, scales, out, rows, width, cols, epsilon);
    }
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    // Every row begins on 16 bytes only where 4 divides the number of columns.
    if (cols % 4 == 0)
        launch<float4, 32>(input, weight, output, rows, cols, epsilon);
    else
        launch<float, 32>(input, weight, output, rows, cols, epsilon);
}
