// Two halves of K are stored over one another.
// expect: half of K
// never: tl.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K, int first, int last)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = first; k < last; ++k)
            sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
        C[row * N + col] = __float2half(sum);
    }
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(16, 16), blocks((N + 15) / 16, (M + 15) / 16);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K, 0, K / 2);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K, K / 2, K);
}
