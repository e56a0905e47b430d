// Softmax of each row: output[i, j] = exp(input[i, j] − max_i) / Σ over k of exp(input[i, k] − max_i).
//
// Bytes that must move: 4·rows·cols in and as many out. A row that fits into the registers of a block is read once.
// Short rows get a warp each, and no barrier. Longer rows are read twice: maximum and sum are found in one pass, the
// sum being scaled down whenever the maximum grows.

#include <cuda_runtime.h>

// Vectors of a row that a thread keeps: enough loads under way at once, and registers for as many threads as there can
// be.
template <typename Vector>
constexpr int ITEMS = sizeof(Vector) == sizeof(float4) ? 4 : 8;
constexpr int MAX_THREADS = 1024;
constexpr int SHORT_ROWS = 4;

__device__ __forceinline__ float largest(float x) { return x; }
__device__ __forceinline__ float largest(float4 x) { return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)); }
__device__ __forceinline__ float sum(float x) { return x; }
__device__ __forceinline__ float sum(float4 x) { return (x.x + x.y) + (x.z + x.w); }
__device__ __forceinline__ float powers(float x, float top) { return __expf(x - top); }
__device__ __forceinline__ float4 powers(float4 x, float top)
{
    return make_float4(__expf(x.x - top), __expf(x.y - top), __expf(x.z - top), __expf(x.w - top));
}
__device__ __forceinline__ float times(float x, float factor) { return x * factor; }
__device__ __forceinline__ float4 times(float4 x, float factor)
{
    return make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

struct Largest {
    static constexpr float NEUTRAL = -3.402823466e38f;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    static constexpr float NEUTRAL = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

// A value of all threads that share a row, a block or one warp of it, made of the values of each. `parts` has room for
// one value of each warp, and is nobody else's.
template <int THREADS, typename Operation>
__device__ __forceinline__ float over_row(float value, Operation both, float *parts)
{
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        value = both(value, __shfl_xor_sync(0xffffffff, value, lane));
    if constexpr (THREADS > 32) {
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = threadIdx.x % 32 < THREADS / 32 ? parts[threadIdx.x % 32] : Operation::NEUTRAL;
#pragma unroll
        for (int lane = 16; lane > 0; lane /= 2)
            value = both(value, __shfl_xor_sync(0xffffffff, value, lane));
    }
    return value;
}

// blockDim is (THREADS, rows of a block). `width` counts vectors of a row, at most THREADS * ITEMS<Vector>.
template <typename Vector, int THREADS>
__global__ void __launch_bounds__(THREADS * (THREADS == 32 ? SHORT_ROWS : 1))
held_kernel(const Vector *__restrict__ input, Vector *__restrict__ output, int rows, int width)
{
    __shared__ float tops[THREADS / 32], sums[THREADS / 32];
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    // The same for all threads of a warp.
    if (row >= rows)
        return;
    input += size_t(row) * width;
    output += size_t(row) * width;
    Vector held[ITEMS<Vector>];
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k)
        if (k * THREADS + threadIdx.x < width)
            held[k] = input[k * THREADS + threadIdx.x];
    float top = Largest::NEUTRAL, total = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k)
        if (k * THREADS + threadIdx.x < width)
            top = fmaxf(top, largest(held[k]));
    top = over_row<THREADS>(top, Largest(), tops);
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k)
        if (k * THREADS + threadIdx.x < width) {
            held[k] = powers(held[k], top);
            total += sum(held[k]);
        }
    const float factor = 1.0f / over_row<THREADS>(total, Sum(), sums);
#pragma unroll
    for (int k = 0; k < ITEMS<Vector>; ++k)
        if (k * THREADS + threadIdx.x < width)
            output[k * THREADS + threadIdx.x] = times(held[k], factor);
}

template <typename Vector>
__global__ void __launch_bounds__(MAX_THREADS)
long_kernel(const Vector *__restrict__ input, Vector *__restrict__ output, int width)
{
    __shared__ float tops[32], sums[32];
    input += size_t(blockIdx.x) * width;
    output += size_t(blockIdx.x) * width;
    float own_top = Largest::NEUTRAL, total = 0.0f;
    for (int column = threadIdx.x; column < width; column += MAX_THREADS) {
        const Vector x = input[column];
        const float before = own_top;
        own_top = fmaxf(own_top, largest(x));
        total = total * __expf(before - own_top) + sum(powers(x, own_top));
    }
    const float top = over_row<MAX_THREADS>(own_top, Largest(), tops);
    const float factor = 1.0f / over_row<MAX_THREADS>(total * __expf(own_top - top), Sum(), sums);
    for (int column = threadIdx.x; column < width; column += MAX_THREADS)
        output[column] = times(powers(input[column], top), factor);
}

template <typename Vector, int THREADS>
void launch(const float *input, float *output, int rows, int cols)
{
    const int width = cols / int(sizeof(Vector) / sizeof(float));
    const auto *in = reinterpret_cast<const Vector *>(input);
    auto *out = reinterpret_cast<Vector *>(output);
    if constexpr (THREADS > MAX_THREADS) {
        long_kernel<<<rows, MAX_THREADS>>>(in, out, width);
    } else if (width > THREADS * ITEMS<Vector>) {
        launch<Vector, 2 * THREADS>(input, output, rows, cols);
    } else {
        const int rows_of_block = THREADS == 32 ? SHORT_ROWS : 1;
        held_kernel<Vector, THREADS><<<(rows - 1) / rows_of_block + 1, dim3(THREADS, rows_of_block)>>>(
            in, out, rows, width);
    }
}

void softmax(const float *input, float *output, int rows, int cols)
{
    // Every row begins on 16 bytes only where 4 divides the number of columns.
    if (cols % 4 == 0)
        launch<float4, 32>(input, output, rows, cols);
    else
        launch<float, 32>(input, output, rows, cols);
}
