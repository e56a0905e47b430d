// Kira. Tensor cores through wmma, 64x64 tiles.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define TILE 64
#define STEP 32
#define PART 16
#define THREADS 128

__global__ void __launch_bounds__(THREADS)
gemm_kernel(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    // Rows begin on 16 bytes, and eight halves more let eight rows lie in different banks.
    __shared__ __align__(32) half a[TILE][STEP + 8];
    __shared__ __align__(32) half b[STEP][TILE + 8];
    __shared__ __align__(32) float c[TILE][TILE + 4];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int y = threadIdx.x / 64 * 32, x = threadIdx.x / 32 % 2 * 32;
    half zero = __float2half(0.0f);
    wmma::fragment<wmma::accumulator, PART, PART, PART, float> sums[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::fill_fragment(sums[i][j], 0.0f);
    for (int step = 0; step < K; step += STEP) {
        for (int t = threadIdx.x; t < TILE * STEP; t += THREADS) {
            int i = row + t / STEP, k = step + t % STEP;
            a[t / STEP][t % STEP] = i < M && k < K ? A[(size_t)i * K + k] : zero;
        }
        for (int t = threadIdx.x; t < STEP * TILE; t += THREADS) {
            int k = step + t / TILE, j = column + t % TILE;
            b[t / TILE][t % TILE] = k < K && j < N ? B[(size_t)k * N + j] : zero;
        }
        __syncthreads();
        for (int k = 0; k < STEP; k += PART) {
            wmma::fragment<wmma::matrix_a, PART, PART, PART, half, wmma::row_major> down[2];
            wmma::fragment<wmma::matrix_b, PART, PART, PART, half, wmma::row_major> across[2];
            for (int s = 0; s < 2; ++s) {
                wmma::load_matrix_sync(down[s], &a[y + s * PART][k], STEP + 8);
                wmma::load_matrix_sync(across[s], &b[k][x + s * PART], TILE + 8);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j)
                    wmma::mma_sync(sums[i][j], down[i], across[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(&c[y + i * PART][x + j * PART], sums[i][j], TILE + 4, wmma::mem_row_major);
    __syncthreads();
    for (int t = threadIdx.x; t < TILE * TILE; t += THREADS)
        if (row + t / TILE < M && column + t % TILE < N)
            C[(size_t)(row + t / TILE) * N + column + t % TILE] = __float2half(c[t / TILE][t % TILE]);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, THREADS>>>(A, B, C, M, N, K);
}
