// Stage 2: a block keeps a tile of A and a tile of B in shared memory.
//
// Each element that is loaded is used 32 times. Zeros stand where a tile reaches past the matrix: they add nothing.
// Each product still takes two loads from shared memory, which is as fast as that gets.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 32

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    __shared__ half a[TILE][TILE];
    __shared__ half b[TILE][TILE];
    int i = blockIdx.y * TILE + threadIdx.y;
    int j = blockIdx.x * TILE + threadIdx.x;
    half zero = __float2half(0.0f);
    float sum = 0.0f;
    for (int step = 0; step < K; step += TILE) {
        int k = step + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = i < M && k < K ? A[(size_t)i * K + k] : zero;
        k = step + threadIdx.y;
        b[threadIdx.y][threadIdx.x] = k < K && j < N ? B[(size_t)k * N + j] : zero;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += __half2float(a[threadIdx.y][k]) * __half2float(b[k][threadIdx.x]);
        // Nobody may overwrite what another thread still reads.
        __syncthreads();
    }
    if (i < M && j < N)
        C[(size_t)i * N + j] = __float2half(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(TILE, TILE), blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K);
}
