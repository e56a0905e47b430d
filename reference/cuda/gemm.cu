// Matrix product: C[i, j] = Σ over k of A[i, k] · B[k, j], in fp16, summed in fp32.
//
// 2·M·N·K FLOP on the tensor cores limit it. A block computes a tile of C; its parts of A and B arrive in shared memory
// by asynchronous copies, several steps of K ahead of the products, and in registers one product ahead. Blocks that run
// at the same time lie in groups of rows, so that they share columns of B in the second-level cache.
//
// mma.sync is what every GPU since Ampere has, and on Hopper it ends at some 64 % of the rate of the tensor cores:
// 630 TFLOP/s of an H200, 605 with its operands from shared memory. The rest takes wgmma, which only code for sm_90a
// alone may use, and this file is compiled for any GPU from compute_90 on.

#include <algorithm>
#include <cstdint>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int STEP = 64;
constexpr int STAGES = 3;
constexpr int GROUP = 8;
// Elements of 16 bytes, the most that one thread copies at a time.
constexpr int CHUNK = 8;

// Sizes of a block's tile of C, and of what its warps compute of it. Offsets are bytes of shared memory.
template <int ROWS_, int COLUMNS_, int WARPS_DOWN, int WARPS_ACROSS>
struct Tile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, ACROSS = WARPS_ACROSS;
    static constexpr int THREADS = 32 * WARPS_DOWN * WARPS_ACROSS;
    static constexpr int WARP_ROWS = ROWS / WARPS_DOWN, WARP_COLUMNS = COLUMNS / WARPS_ACROSS;
    // Chunks of a row, and rows that the block's threads copy in one round.
    static constexpr int A_CHUNKS = STEP / CHUNK, B_CHUNKS = COLUMNS / CHUNK;
    static constexpr int A_LINES = THREADS / A_CHUNKS, B_LINES = THREADS / B_CHUNKS;
    static constexpr int B_PART = ROWS * STEP * int(sizeof(half));
    static constexpr int STAGE = B_PART + STEP * COLUMNS * int(sizeof(half));
    // The finished tile takes the place of the stages. Eight of its rows meet different banks.
    static constexpr int OUT_STRIDE = COLUMNS + CHUNK;
    static constexpr int BYTES = std::max(STAGES * STAGE, ROWS * OUT_STRIDE * int(sizeof(half)));
};
using Large = Tile<128, 256, 2, 4>;
using Small = Tile<64, 64, 2, 2>;

// Where a chunk lies in a part whose rows have CHUNKS of them. An ldmatrix reads one chunk of eight rows: turned by
// their rows, the eight lie in different banks.
template <int CHUNKS>
__device__ __forceinline__ uint32_t place(int row, int chunk)
{
    static_assert(CHUNKS % 8 == 0, "a row is some multiple of all banks");
    return (row * CHUNKS + (chunk ^ row % 8)) * CHUNK * int(sizeof(half));
}

__device__ __forceinline__ void load_matrices(uint32_t (&to)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(row));
}

__device__ __forceinline__ void load_matrices_turned(uint32_t (&to)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(row));
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Brings a chunk to shared memory: the first `count` elements, and zeros for the others. WHOLE: it lies on 16 bytes,
// and all of it exists or nothing. Otherwise it goes element by element.
template <bool WHOLE>
__device__ __forceinline__ void copy_chunk(uint32_t target, const half *source, int count)
{
    if constexpr (WHOLE) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(target), "l"(source),
                     "r"(count > 0 ? 16 : 0));
    } else {
        half *to = static_cast<half *>(__cvta_shared_to_generic(target));
        for (int k = 0; k < CHUNK; ++k)
            to[k] = k < count ? source[k] : __float2half(0.0f);
    }
}

// What a thread copies of the parts of A and B, step by step along K. Rows and chunks past the end repeat the last one,
// and end where nothing of C is stored. The first step is the one that may be short: the others need no bounds.
template <typename Sizes, bool WHOLE>
struct Source {
    static constexpr int A_ROUNDS = Sizes::ROWS / Sizes::A_LINES, B_ROUNDS = STEP / Sizes::B_LINES;
    static constexpr int A_CHUNKS = Sizes::A_CHUNKS, B_CHUNKS = Sizes::B_CHUNKS;
    const half *a[A_ROUNDS], *b;
    size_t b_width;
    // Columns of B from this thread's first on.
    int b_left;

    __device__ __forceinline__ Source(const half *A, const half *B, int row, int column, int M, int N, int K)
    {
#pragma unroll
        for (int k = 0; k < A_ROUNDS; ++k) {
            const int line = row + threadIdx.x / A_CHUNKS + k * Sizes::A_LINES;
            a[k] = A + size_t(min(line, M - 1)) * K + threadIdx.x % A_CHUNKS * CHUNK;
        }
        const int last = (N - 1) / CHUNK * CHUNK, first = min(column + int(threadIdx.x % B_CHUNKS) * CHUNK, last);
        b = B + size_t(threadIdx.x / B_CHUNKS) * N + first;
        b_width = N;
        b_left = N - first;
    }

    // The parts of a step to `stage`: `depth` elements along K, and zeros to fill it.
    __device__ __forceinline__ void copy(uint32_t stage, int depth)
    {
        const int a_line = threadIdx.x / A_CHUNKS, a_chunk = threadIdx.x % A_CHUNKS;
        const int b_line = threadIdx.x / B_CHUNKS, b_chunk = threadIdx.x % B_CHUNKS;
#pragma unroll
        for (int k = 0; k < A_ROUNDS; ++k) {
            copy_chunk<WHOLE>(
                stage + place<A_CHUNKS>(a_line + k * Sizes::A_LINES, a_chunk), a[k], depth - a_chunk * CHUNK);
            a[k] += depth;
        }
#pragma unroll
        for (int k = 0; k < B_ROUNDS; ++k) {
            const int line = b_line + k * Sizes::B_LINES;
            copy_chunk<WHOLE>(stage + Sizes::B_PART + place<B_CHUNKS>(line, b_chunk),
                              b + k * Sizes::B_LINES * b_width, line < depth ? b_left : 0);
        }
        b += depth * b_width;
    }
};

// Stores a warp's sums into the block's tile in shared memory.
template <typename Sizes, int DOWN, int ACROSS>
__device__ __forceinline__ void put_down(half *tile, const float (&sums)[DOWN][ACROSS][4])
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / Sizes::ACROSS * Sizes::WARP_ROWS + lane / 4;
    const int column = warp % Sizes::ACROSS * Sizes::WARP_COLUMNS + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < DOWN; ++i)
#pragma unroll
        for (int j = 0; j < ACROSS; ++j)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower)
                *reinterpret_cast<half2 *>(tile + (row + 16 * i + 8 * lower) * Sizes::OUT_STRIDE + column + 8 * j) =
                    __floats2half2_rn(sums[i][j][2 * lower], sums[i][j][2 * lower + 1]);
}

// The tile from shared memory to C, where it can be in whole lines.
template <typename Sizes, bool WHOLE>
__device__ __forceinline__ void store(half *C, const half *tile, int row, int column, int M, int N)
{
#pragma unroll 4
    for (int k = threadIdx.x; k < Sizes::ROWS * Sizes::B_CHUNKS; k += Sizes::THREADS) {
        const int i = k / Sizes::B_CHUNKS, j = k % Sizes::B_CHUNKS * CHUNK;
        const half *from = tile + i * Sizes::OUT_STRIDE + j;
        half *to = C + size_t(row + i) * N + column + j;
        if (row + i >= M)
            break;
        if (WHOLE && column + j < N)
            *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
        for (int e = 0; !WHOLE && e < CHUNK && column + j + e < N; ++e)
            to[e] = from[e];
    }
}

template <typename Sizes, bool WHOLE>
__global__ void __launch_bounds__(Sizes::THREADS)
gemm_kernel(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    constexpr int DOWN = Sizes::WARP_ROWS / 16, ACROSS = Sizes::WARP_COLUMNS / 8, PRODUCTS = STEP / 16;
    extern __shared__ __align__(128) unsigned char memory[];

    const int tiles_down = (M - 1) / Sizes::ROWS + 1, tiles_across = (N - 1) / Sizes::COLUMNS + 1;
    const int group = blockIdx.x / (GROUP * tiles_across), in_group = blockIdx.x % (GROUP * tiles_across);
    const int group_rows = min(tiles_down - group * GROUP, GROUP);
    const int row = (group * GROUP + in_group % group_rows) * Sizes::ROWS;
    const int column = in_group / group_rows * Sizes::COLUMNS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / Sizes::ACROSS * Sizes::WARP_ROWS;
    const int warp_chunk = warp % Sizes::ACROSS * Sizes::WARP_COLUMNS / CHUNK;

    const int steps = (K - 1) / STEP + 1;
    const uint32_t stages = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
    const uint32_t last_stage = stages + (STAGES - 1) * Sizes::STAGE;
    Source<Sizes, WHOLE> source(A, B, row, column, M, N, K);
    source.copy(stages, K - (steps - 1) * STEP);
    asm volatile("cp.async.commit_group;\n");
    for (int step = 1; step < STAGES - 1; ++step) {
        if (step < steps)
            source.copy(stages + step * Sizes::STAGE, STEP);
        // An empty group as well: the waits below count groups.
        asm volatile("cp.async.commit_group;\n");
    }

    float sums[DOWN][ACROSS][4] = {};
    // Two sets: one is multiplied while the other is loaded.
    uint32_t a[2][DOWN][4], b[2][ACROSS / 2][4];
    uint32_t stage = stages, next_stage = last_stage;
    const auto load = [&](int k) {
#pragma unroll
        for (int i = 0; i < DOWN; ++i)
            load_matrices(a[k % 2][i],
                          stage + place<Sizes::A_CHUNKS>(warp_row + 16 * i + lane % 16, 2 * k + lane / 16));
#pragma unroll
        for (int j = 0; j < ACROSS / 2; ++j)
            load_matrices_turned(b[k % 2][j], stage + Sizes::B_PART + place<Sizes::B_CHUNKS>(
                                                  16 * k + lane % 16, warp_chunk + 2 * j + lane / 16));
    };
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    load(0);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < PRODUCTS; ++k) {
            if (k == PRODUCTS - 1) {
                // The next step's parts are there for all threads, and nobody reads this step's any more.
                asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
                __syncthreads();
                stage = stage == last_stage ? stages : stage + Sizes::STAGE;
            }
            // After the last step it is loaded for nothing.
            load((k + 1) % PRODUCTS);
            if (k == 0) {
                if (step + STAGES - 1 < steps)
                    source.copy(next_stage, STEP);
                asm volatile("cp.async.commit_group;\n");
                next_stage = next_stage == last_stage ? stages : next_stage + Sizes::STAGE;
            }
#pragma unroll
            for (int i = 0; i < DOWN; ++i)
#pragma unroll
                for (int n = 0; n < ACROSS; ++n) {
                    // To and fro: two products after each other share a register.
                    const int j = i % 2 ? ACROSS - 1 - n : n;
                    multiply_add(sums[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2], b[k % 2][j / 2][j % 2 * 2 + 1]);
                }
        }
    }
    // The tile takes the place of the stages, which nobody may still read or write.
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    half *tile = reinterpret_cast<half *>(memory);
    put_down<Sizes>(tile, sums);
    __syncthreads();
    store<Sizes, WHOLE>(C, tile, row, column, M, N);
}

template <typename Sizes, bool WHOLE>
void launch(const half *A, const half *B, half *C, int M, int N, int K)
{
    const int tiles = ((M - 1) / Sizes::ROWS + 1) * ((N - 1) / Sizes::COLUMNS + 1);
    // More than 48 KiB must be asked for.
    cudaFuncSetAttribute(gemm_kernel<Sizes, WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize, Sizes::BYTES);
    gemm_kernel<Sizes, WHOLE><<<tiles, Sizes::THREADS, Sizes::BYTES>>>(A, B, C, M, N, K);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    int processors = 0, room = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    // Small tiles where large ones would leave multiprocessors without work, or need more shared memory than there is.
    const int64_t tiles = int64_t((M - 1) / Large::ROWS + 1) * ((N - 1) / Large::COLUMNS + 1);
    const bool large = tiles >= processors && Large::BYTES <= room;
    // Rows begin on 16 bytes only where 8 divides their length.
    const bool whole = K % CHUNK == 0 && N % CHUNK == 0;
    const auto launch_tiles = whole ? (large ? launch<Large, true> : launch<Small, true>) : launch<Small, false>;
    launch_tiles(A, B, C, M, N, K);
}
