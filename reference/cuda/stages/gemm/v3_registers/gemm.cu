// Stage 3: a thread computes 4×4 elements of C.
//
// Eight loads from shared memory serve sixteen products, where they served four. Elements become floats on their way
// into shared memory, once, and not once for each product. What limits it now is fp32 arithmetic.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 64
#define STEP 16
#define SIDE 4
#define ACROSS (TILE / SIDE)
#define THREADS (ACROSS * ACROSS)

__global__ void __launch_bounds__(THREADS)
gemm_kernel(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    // Turned, so that a thread's four elements of a column of A lie side by side.
    __shared__ float a[STEP][TILE + 1];
    __shared__ float b[STEP][TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int y = threadIdx.x / ACROSS * SIDE, x = threadIdx.x % ACROSS;
    float sums[SIDE][SIDE] = {};
    for (int step = 0; step < K; step += STEP) {
        for (int t = threadIdx.x; t < TILE * STEP; t += THREADS) {
            int i = row + t / STEP, k = step + t % STEP;
            a[t % STEP][t / STEP] = i < M && k < K ? __half2float(A[(size_t)i * K + k]) : 0.0f;
        }
        for (int t = threadIdx.x; t < STEP * TILE; t += THREADS) {
            int k = step + t / TILE, j = column + t % TILE;
            b[t / TILE][t % TILE] = k < K && j < N ? __half2float(B[(size_t)k * N + j]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STEP; ++k) {
            float down[SIDE], across[SIDE];
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                down[s] = a[k][y + s];
                // Columns of a thread lie 16 apart, so that neighbouring threads read neighbouring elements.
                across[s] = b[k][x + s * ACROSS];
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i)
#pragma unroll
                for (int j = 0; j < SIDE; ++j)
                    sums[i][j] += down[i] * across[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j)
            if (row + y + i < M && column + x + j * ACROSS < N)
                C[(size_t)(row + y + i) * N + column + x + j * ACROSS] = __float2half(sums[i][j]);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, THREADS>>>(A, B, C, M, N, K);
}
