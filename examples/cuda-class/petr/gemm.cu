#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum = fmaf(__half2float(A[row * K + k]), __half2float(B[k * N + col]), sum);
        C[row * N + col] = __float2half_rn(sum);
    }
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
