// Where K ends, the tile keeps what it held before.
// expect: in line 25
// never: tl.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 16

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    __shared__ half As[TILE][TILE];
    __shared__ half Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a = t * TILE + threadIdx.x;
        int b = t * TILE + threadIdx.y;
        if (row < M && a < K)
            As[threadIdx.y][threadIdx.x] = A[row * K + a];
        if (b < K && col < N)
            Bs[threadIdx.y][threadIdx.x] = B[b * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += __half2float(As[threadIdx.y][k]) * __half2float(Bs[k][threadIdx.x]);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = __float2half(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(TILE, TILE);
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K);
}
