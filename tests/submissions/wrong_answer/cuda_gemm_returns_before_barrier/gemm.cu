// Threads outside of C return, and load nothing into the tiles.
// expect: have left before the __syncthreads() in line 23
// expect: let no thread return before a barrier
// never: further on
#include <cuda_fp16.h>

#define SIDE 16

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    if (row >= M || column >= N)
        return;

    float total = 0.0f;
    for (int first = 0; first < K; first += SIDE) {
        int across = first + threadIdx.x, down = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = across < K ? __half2float(A[row * K + across]) : 0.0f;
        right[threadIdx.y][threadIdx.x] = down < K ? __half2float(B[down * N + column]) : 0.0f;

        // All elements are there from here on.
        __syncthreads();
        for (int k = 0; k < SIDE; k++)
            total += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + column] = __float2half(total);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(SIDE, SIDE);
    gemm_kernel<<<dim3((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), threads>>>(A, B, C, M, N, K);
}
