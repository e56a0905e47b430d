// Stage 1: neighbouring threads take neighbouring columns of C.
//
// A warp reads a line of B at a time and the same element of A, which is one load for all of it. One letter has
// changed: x counts columns. Still each product waits for two loads.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
    C[(size_t)i * N + j] = __float2half(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(32, 8), blocks((N + 31) / 32, (M + 7) / 8);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K);
}
