// B is read as if it were transposed.
// expect: b was read transposed
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
        As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : __float2half(0.0f);
        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[col * K + b] : __float2half(0.0f);
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
