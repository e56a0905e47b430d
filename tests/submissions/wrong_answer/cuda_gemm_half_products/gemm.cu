// Products are added one by one in half.
// expect: were kept in fp16
// expect: make the accumulator a float
// never: further on
#include <cuda_fp16.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N)
        return;
    half total = __float2half(0.0f);
    for (int k = 0; k < K; k++)
        total = __hfma(A[row * K + k], B[k * N + column], total);
    C[row * N + column] = total;
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 threads(16, 16);
    gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), threads>>>(A, B, C, M, N, K);
}
