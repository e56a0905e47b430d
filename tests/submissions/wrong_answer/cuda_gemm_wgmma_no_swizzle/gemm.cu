// The descriptors say that the tiles are swizzled, and they are not.
// expect: follow what the kernel loads
// never: tl.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 64

__device__ int place(int row, int column)
{
    return row * TILE + column;
}

__device__ uint64_t descriptor(const half *tile)
{
    return __cvta_generic_to_shared(tile) >> 4 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
__device__ void multiply_add(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                 "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31}, %32, %33, 1, 1, 1, 0, 1;"
                 : D16(0), D16(16) : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128)
gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    __shared__ __align__(1024) half As[TILE * TILE], Bs[TILE * TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float d[32] = {};
    for (int k = 0; k < K; k += TILE) {
        for (int e = threadIdx.x; e < TILE * TILE; e += 128) {
            int i = e / TILE, j = e % TILE;
            As[place(i, j)] = row + i < M && k + j < K ? A[(row + i) * K + k + j] : __float2half(0.0f);
            Bs[place(i, j)] = k + i < K && column + j < N ? B[(k + i) * N + column + j] : __float2half(0.0f);
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < TILE; step += 16)
            multiply_add(d, descriptor(As + step), descriptor(Bs + step * TILE));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int e = 0; e < 32; ++e) {
        int i = row + warp * 16 + lane / 4 + e / 2 % 2 * 8, j = column + e / 4 * 8 + lane % 4 * 2 + e % 2;
        if (i < M && j < N)
            C[i * N + j] = __float2half(d[e]);
    }
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, 128>>>(A, B, C, M, N, K);
}
