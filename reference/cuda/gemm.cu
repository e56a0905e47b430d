// Matrix product: C[i, j] = Σ over k of A[i, k] · B[k, j], in fp16, summed in fp32.
//
// 2·M·N·K FLOP on the tensor cores limit it. A block computes a tile of C by four warps; its parts of A and B arrive
// in shared memory by asynchronous copies, several steps of K ahead of the products. Rows in shared memory are 16
// bytes longer than needed, so that the eight rows of an ldmatrix meet different banks. Blocks that run at the same
// time lie in groups of rows, so that they share columns of B in the second-level cache. Where 8 does not divide K
// and N, rows do not begin on 16 bytes, and elements are copied one by one.

#include <cstdint>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int STEP = 32;
constexpr int STAGES = 4;
constexpr int THREADS = 128;
constexpr int GROUP = 8;
constexpr int CHUNK = 8;
constexpr int PADDING = 8;

// The sizes of a block's tile. Its four warps stand in a square.
template <int SIDE>
struct Tile {
    static constexpr int WARP = SIDE / 2;
    static constexpr int A_STRIDE = STEP + PADDING, B_STRIDE = SIDE + PADDING;
    static constexpr int A_SIZE = SIDE * A_STRIDE, STAGE = A_SIZE + STEP * B_STRIDE;
    static constexpr int BYTES = STAGES * STAGE * int(sizeof(half));
};

__device__ __forceinline__ uint32_t shared_address(const half *place)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(place));
}

// Eight elements, or zeros where `inside` is false.
__device__ __forceinline__ void copy_chunk(half *target, const half *source, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
                 ::"r"(shared_address(target)), "l"(source), "r"(inside ? 16 : 0));
}

__device__ __forceinline__ void load_matrices(uint32_t (&to)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)));
}

__device__ __forceinline__ void load_matrices_turned(uint32_t (&to)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)));
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A part of a matrix of `width` columns and `height` rows, from `row` and `column` on, to shared memory. What lies
// outside becomes zero.
template <int ROWS, int COLUMNS, int STRIDE, bool CHUNKS>
__device__ __forceinline__ void copy_part(half *target, const half *matrix, int height, int width, int row, int column)
{
    constexpr int SIZE = CHUNKS ? CHUNK : 1, ACROSS = COLUMNS / SIZE;
#pragma unroll
    for (int k = threadIdx.x; k < ROWS * ACROSS; k += THREADS) {
        const int i = k / ACROSS, j = k % ACROSS * SIZE;
        const bool inside = row + i < height && column + j < width;
        const half *source = inside ? matrix + size_t(row + i) * width + column + j : matrix;
        if constexpr (CHUNKS)
            copy_chunk(target + i * STRIDE + j, source, inside);
        else
            target[i * STRIDE + j] = inside ? *source : __float2half(0.0f);
    }
}

template <int SIDE, bool CHUNKS>
__global__ void __launch_bounds__(THREADS)
gemm_kernel(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    using Sizes = Tile<SIDE>;
    constexpr int DOWN = Sizes::WARP / 16, ACROSS = Sizes::WARP / 8;
    extern __shared__ __align__(16) half stages[];

    const int tiles_down = (M + SIDE - 1) / SIDE, tiles_across = (N + SIDE - 1) / SIDE;
    const int group = blockIdx.x / (GROUP * tiles_across), in_group = blockIdx.x % (GROUP * tiles_across);
    const int group_rows = min(tiles_down - group * GROUP, GROUP);
    const int row = (group * GROUP + in_group % group_rows) * SIDE, column = in_group / group_rows * SIDE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 2 * Sizes::WARP, warp_column = warp % 2 * Sizes::WARP;

    float sums[DOWN][ACROSS][4] = {};
    const int steps = (K + STEP - 1) / STEP;
    const auto fetch = [&](int step) {
        if (step < steps) {
            half *stage = stages + step % STAGES * Sizes::STAGE;
            copy_part<SIDE, STEP, Sizes::A_STRIDE, CHUNKS>(stage, A, M, K, row, step * STEP);
            copy_part<STEP, SIDE, Sizes::B_STRIDE, CHUNKS>(stage + Sizes::A_SIZE, B, K, N, step * STEP, column);
        }
        // An empty group as well: the wait below counts groups.
        asm volatile("cp.async.commit_group;\n");
    };
    for (int step = 0; step < STAGES - 1; ++step)
        fetch(step);
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
        // This step's part is there for all threads, and the stage to be filled next is no longer read.
        __syncthreads();
        fetch(step + STAGES - 1);
        const half *a_part = stages + step % STAGES * Sizes::STAGE, *b_part = a_part + Sizes::A_SIZE;
#pragma unroll
        for (int k = 0; k < STEP; k += 16) {
            uint32_t a[DOWN][4], b[ACROSS / 2][4];
#pragma unroll
            for (int i = 0; i < DOWN; ++i)
                load_matrices(a[i], a_part + (warp_row + 16 * i + lane % 16) * Sizes::A_STRIDE + k + lane / 16 * 8);
#pragma unroll
            for (int j = 0; j < ACROSS / 2; ++j)
                load_matrices_turned(
                    b[j], b_part + (k + lane % 16) * Sizes::B_STRIDE + warp_column + 16 * j + lane / 16 * 8);
#pragma unroll
            for (int i = 0; i < DOWN; ++i)
#pragma unroll
                for (int j = 0; j < ACROSS; ++j)
                    multiply_add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i)
#pragma unroll
        for (int j = 0; j < ACROSS; ++j)
#pragma unroll
            for (int upper = 0; upper < 2; ++upper) {
                const int y = row + warp_row + 16 * i + lane / 4 + 8 * upper;
                const int x = column + warp_column + 8 * j + lane % 4 * 2;
                half *place = C + size_t(y) * N + x;
                const float left = sums[i][j][2 * upper], right = sums[i][j][2 * upper + 1];
                if (CHUNKS && y < M && x < N)
                    *reinterpret_cast<half2 *>(place) = __floats2half2_rn(left, right);
                if (!CHUNKS && y < M && x < N)
                    place[0] = __float2half(left);
                if (!CHUNKS && y < M && x + 1 < N)
                    place[1] = __float2half(right);
            }
}

template <int SIDE, bool CHUNKS>
void launch(const half *A, const half *B, half *C, int M, int N, int K)
{
    const int tiles = ((M - 1) / SIDE + 1) * ((N - 1) / SIDE + 1);
    // More than 48 KiB must be asked for.
    cudaFuncSetAttribute(gemm_kernel<SIDE, CHUNKS>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile<SIDE>::BYTES);
    gemm_kernel<SIDE, CHUNKS><<<tiles, THREADS, Tile<SIDE>::BYTES>>>(A, B, C, M, N, K);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    int processors = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    // Small tiles only where large ones would leave multiprocessors without work.
    const bool large = int64_t((M - 1) / 128 + 1) * ((N - 1) / 128 + 1) >= processors;
    const bool chunks = K % CHUNK == 0 && N % CHUNK == 0;
    const auto launch_tiles = chunks ? (large ? launch<128, true> : launch<64, true>)
                                     : (large ? launch<128, false> : launch<64, false>);
    launch_tiles(A, B, C, M, N, K);
}
