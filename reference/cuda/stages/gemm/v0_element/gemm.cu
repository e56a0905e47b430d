// Stage 0: a thread an element of C, neighbours down a column.
//
// Threads of a warp read A in rows that lie K apart and write C in rows that lie N apart. Each element of A is read N
// times.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
    C[(size_t)i * N + j] = __float2half(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(16, 16), blocks((M + 15) / 16, (N + 15) / 16);
    gemm_kernel<<<blocks, threads>>>(A, B, C, M, N, K);
}
