// Matrix product: C[i, j] = Σ over k of A[i, k] · B[k, j], in fp16, summed in fp32.
//
// 2·M·N·K FLOP on the tensor cores limit it. A block computes a tile of C; its parts of A and B arrive in shared memory
// by asynchronous copies, several steps of K ahead of the products. Blocks that run at the same time lie in groups of
// rows, so that they share columns of B in the second-level cache.
//
// There are two kernels. mma.sync is what every GPU since Ampere has; on Hopper it ends at some 64 % of the rate of the
// tensor cores. The rest takes wgmma, which reads its operands from shared memory, where the copy engine has put them.
// Only code that is compiled for sm_90a may use it.

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

template <typename Sizes>
__host__ __device__ int tiles_of(int M, int N)
{
    return ((M - 1) / Sizes::ROWS + 1) * ((N - 1) / Sizes::COLUMNS + 1);
}

// The first column (x) and row (y) of a tile: GROUP rows of tiles, column by column, then the next ones.
template <typename Sizes>
__device__ __forceinline__ int2 corner(int tile, int M, int N)
{
    const int tiles_down = (M - 1) / Sizes::ROWS + 1, tiles_across = (N - 1) / Sizes::COLUMNS + 1;
    const int group = tile / (GROUP * tiles_across), in_group = tile % (GROUP * tiles_across);
    const int group_rows = min(tiles_down - group * GROUP, GROUP);
    return make_int2(in_group / group_rows * Sizes::COLUMNS, (group * GROUP + in_group % group_rows) * Sizes::ROWS);
}

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
    extern __shared__ __align__(1024) unsigned char memory[];

    const int2 at = corner<Sizes>(blockIdx.x, M, N);
    const int row = at.y, column = at.x;
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
    // More than 48 KiB must be asked for.
    cudaFuncSetAttribute(gemm_kernel<Sizes, WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize, Sizes::BYTES);
    gemm_kernel<Sizes, WHOLE><<<tiles_of<Sizes>(M, N), Sizes::THREADS, Sizes::BYTES>>>(A, B, C, M, N, K);
}

// Hopper's kernel: two warpgroups multiply 64 rows of a tile each, and a thread of one warp more has the copy engine
// fetch for them. The engine copies boxes of BOX columns, whose rows of 128 bytes are turned as `place` turns them.
struct Hopper {
    static constexpr int ROWS = 128, COLUMNS = 256, STAGES = 4, BOX = 64, WARPGROUP = 128;
    static constexpr int CONSUMERS = ROWS / 64, PRODUCER = CONSUMERS * WARPGROUP / 32;
    static constexpr int THREADS = 32 * (PRODUCER + 1), MOST_BLOCKS = 256;
    static constexpr int EIGHT_ROWS = 1024, BOX_BYTES = BOX * 128;
    static constexpr int B_PART = ROWS * 128, STAGE = B_PART + COLUMNS / BOX * BOX_BYTES;
    // Behind the stages, each warpgroup has two boxes of C on their way out.
    static constexpr int BYTES = STAGES * STAGE + CONSUMERS * 2 * BOX_BYTES;
};

// How matrices lie, as the copy engine reads it: of A, B and C for each block.
struct alignas(128) TensorMap {
    uint32_t words[32];
};
__device__ TensorMap maps[Hopper::MOST_BLOCKS][3];

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// A warp makes the map of a matrix, for boxes of BOX columns: in shared memory, from where it goes to the engine's.
__device__ __forceinline__ void make_map(
    TensorMap *map, TensorMap *draft, const half *matrix, int rows, int columns, int box_rows)
{
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(draft));
    draft->words[threadIdx.x % 32] = 0;
    __syncwarp();
#define SET(field, type, number) \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type ", %1;\n" ::"r"(at), number : "memory")
    if (threadIdx.x % 32 == 0) {
        SET("global_address", "b64 [%0]", "l"(matrix));
        // One less than the dimensions; the first is the one along which neighbours lie.
        SET("rank", "b32 [%0]", "r"(1));
        SET("box_dim", "b32 [%0], 0", "r"(Hopper::BOX));
        SET("box_dim", "b32 [%0], 1", "r"(box_rows));
        SET("global_dim", "b32 [%0], 0", "r"(columns));
        SET("global_dim", "b32 [%0], 1", "r"(rows));
        SET("global_stride", "b64 [%0], 0", "l"(int64_t(columns) * int(sizeof(half))));
        SET("element_stride", "b32 [%0], 0", "r"(1));
        SET("element_stride", "b32 [%0], 1", "r"(1));
        // fp16, swizzled by 128 bytes, zeros for what lies outside of the matrix.
        SET("elemtype", "b32 [%0]", "n"(6));
        SET("interleave_layout", "b32 [%0]", "n"(0));
        SET("swizzle_mode", "b32 [%0]", "n"(3));
        SET("fill_mode", "b32 [%0]", "n"(0));
    }
#undef SET
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%0], [%1], 128;\n" ::"l"(map), "r"(at) : "memory");
}

// Before a thread uses a map that was made on the GPU.
__device__ __forceinline__ void acquire_map(const TensorMap *map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;\n" ::"l"(map) : "memory");
}

// Has the engine fetch a box; a barrier counts its bytes when they are there.
__device__ __forceinline__ void fetch_box(uint32_t to, const TensorMap *map, int column, int row, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}

__device__ __forceinline__ void wait(uint32_t barrier, int parity)
{
    uint32_t done;
    do
        asm volatile("{\n.reg .pred done;\nmbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n}\n" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    while (!done);
}

// A matrix in shared memory for wgmma: its rows are swizzled by 128 bytes (1), every eight of them follow each other,
// and B, whose neighbours lie along N, goes on in the next box.
__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return uint64_t(address >> 4) | uint64_t(Hopper::BOX_BYTES >> 4) << 16 | uint64_t(Hopper::EIGHT_ROWS >> 4) << 32 |
           uint64_t(1) << 62;
}

#define SUMS8(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])
#define SUMS32(i) SUMS8(i), SUMS8(i + 8), SUMS8(i + 16), SUMS8(i + 24)
// d = a · b, or what is added to d, for 64 rows, 256 columns and 16 of K. The last 1: neighbours of B lie along N.
__device__ __forceinline__ void multiply_async(float (&d)[128], uint64_t a, uint64_t b, bool adds)
{
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
        "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
        "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "
        "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
        "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, adds, 1, 1, 0, 1;\n}\n"
        : SUMS32(0), SUMS32(32), SUMS32(64), SUMS32(96) : "l"(a), "l"(b), "r"(int(adds)));
}
#undef SUMS32
#undef SUMS8

__device__ __forceinline__ uint32_t pair(float low, float high)
{
    const half2 both = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t &>(both);
}

// A warpgroup's 64 rows to C, by way of its two boxes in shared memory, while the next products begin.
__device__ __forceinline__ void store_async(const TensorMap *map, const float (&d)[128], uint32_t boxes, int2 at)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, barrier = 1 + threadIdx.x / Hopper::WARPGROUP;
    const bool first = threadIdx.x % Hopper::WARPGROUP == 0;
#pragma unroll
    for (int part = 0; part < Hopper::COLUMNS / Hopper::BOX; ++part) {
        const uint32_t box = boxes + part % 2 * Hopper::BOX_BYTES;
        if (first)
            asm volatile("cp.async.bulk.wait_group.read 1;\n" ::: "memory");
        asm volatile("bar.sync %0, 128;\n" ::"r"(barrier) : "memory");
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            const float *sums = d + 32 * part + 4 * j;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n"
                         ::"r"(box + place<8>(16 * warp + lane % 16, j + lane / 16)), "r"(pair(sums[0], sums[1])),
                           "r"(pair(sums[2], sums[3])), "r"(pair(sums[4], sums[5])), "r"(pair(sums[6], sums[7]))
                         : "memory");
        }
        // What threads have stored is not yet there for the engine.
        asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
        asm volatile("bar.sync %0, 128;\n" ::"r"(barrier) : "memory");
        if (first) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
                         ::"l"(map), "r"(at.x + part * Hopper::BOX), "r"(at.y), "r"(box) : "memory");
            asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
        }
    }
}
#endif

__global__ void __launch_bounds__(Hopper::THREADS, 1)
hopper_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int STAGES = Hopper::STAGES;
    // The swizzle turns by bits of the address.
    extern __shared__ __align__(1024) unsigned char memory[];
    // Of each stage: its parts are there, and nobody reads them any more.
    __shared__ uint64_t barriers[2 * STAGES];
    __shared__ TensorMap draft;
    const uint32_t stages = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
    const uint32_t full = static_cast<uint32_t>(__cvta_generic_to_shared(barriers)), empty = full + 8 * STAGES;
    const int warp = threadIdx.x / 32, tiles = tiles_of<Hopper>(M, N), steps = (K - 1) / STEP + 1;
    TensorMap *map = maps[blockIdx.x];

    if (threadIdx.x == 0) {
        for (int k = 0; k < STAGES; ++k) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n" ::"r"(full + 8 * k) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
                         ::"r"(empty + 8 * k), "n"(Hopper::PRODUCER) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    }
    if (warp == Hopper::PRODUCER) {
        make_map(map, &draft, A, M, K, Hopper::ROWS);
        make_map(map + 1, &draft, B, K, N, STEP);
        make_map(map + 2, &draft, C, M, N, 64);
    }
    __syncthreads();

    // Blocks take tile after tile, and the next one's parts are fetched while the last one is stored.
    int stage = 0, parity = 0;
    const auto go_on = [&] {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        parity ^= stage == 0;
    };
    if (warp == Hopper::PRODUCER) {
        acquire_map(map);
        acquire_map(map + 1);
        for (int tile = blockIdx.x; threadIdx.x % 32 == 0 && tile < tiles; tile += gridDim.x) {
            const int2 at = corner<Hopper>(tile, M, N);
            for (int step = 0; step < steps; ++step, go_on()) {
                const uint32_t a = stages + stage * Hopper::STAGE, b = a + Hopper::B_PART, barrier = full + 8 * stage;
                // The first time round nobody has read a stage, and it is as if the phase before the first had ended.
                wait(empty + 8 * stage, parity ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
                             ::"r"(barrier), "n"(Hopper::STAGE) : "memory");
                fetch_box(a, map, step * STEP, at.y, barrier);
                for (int k = 0; k < Hopper::COLUMNS / Hopper::BOX; ++k)
                    fetch_box(b + k * Hopper::BOX_BYTES, map + 1, at.x + k * Hopper::BOX, step * STEP, barrier);
            }
        }
        return;
    }
    const int group = warp / 4;
    const auto release = [&](int read) {
        if (threadIdx.x % 32 == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(empty + 8 * read) : "memory");
    };
    acquire_map(map + 2);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float sums[128];
        int last = 0;
        for (int step = 0; step < steps; ++step, go_on()) {
            const uint32_t a = stages + stage * Hopper::STAGE + group * Hopper::BOX_BYTES;
            const uint32_t b = stages + stage * Hopper::STAGE + Hopper::B_PART;
            wait(full + 8 * stage, parity);
            asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
            for (int k = 0; k < STEP / 16; ++k)
                multiply_async(sums, descriptor(a + 32 * k), descriptor(b + 2 * k * Hopper::EIGHT_ROWS), step + k > 0);
            asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
            // While these products run, those of the step before have ended.
            asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
            if (step > 0)
                release(last);
            last = stage;
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
        release(last);
        const int2 at = corner<Hopper>(tile, M, N);
        store_async(map + 2, sums, stages + STAGES * Hopper::STAGE + group * 2 * Hopper::BOX_BYTES,
                    make_int2(at.x, at.y + 64 * group));
    }
    if (threadIdx.x % Hopper::WARPGROUP == 0)
        asm volatile("cp.async.bulk.wait_group 0;\n" ::: "memory");
#endif
}

// Compiled for another GPU, Hopper's kernel is empty, and has no shared memory.
static bool for_hopper()
{
    cudaFuncAttributes found = {};
    cudaFuncGetAttributes(&found, hopper_kernel);
    return found.sharedSizeBytes > 0;
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    int processors = 0, room = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    // Small tiles where large ones would leave multiprocessors without work, or need more shared memory than there is.
    const bool large = tiles_of<Large>(M, N) >= processors && Large::BYTES <= room;
    // Rows begin on 16 bytes only where 8 divides their length.
    const bool whole = K % CHUNK == 0 && N % CHUNK == 0;
    if (large && whole && for_hopper()) {
        const int blocks = std::min(processors, Hopper::MOST_BLOCKS);
        cudaFuncSetAttribute(hopper_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Hopper::BYTES);
        hopper_kernel<<<blocks, Hopper::THREADS, Hopper::BYTES>>>(A, B, C, M, N, K);
        return;
    }
    const auto launch_tiles = whole ? (large ? launch<Large, true> : launch<Small, true>) : launch<Small, false>;
    launch_tiles(A, B, C, M, N, K);
}
