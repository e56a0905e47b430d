// The sums begin with whatever the registers hold.
// expect: adds to `acc`, and nothing sets it before
// never: 0 / 0
// Register tiling: each thread computes 4 rows of one column.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int RM = 4;

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * RM;
    if (col >= N)
        return;

    float acc[RM];
    for (int k = 0; k < K; ++k) {
        float b = __half2float(B[(size_t)k * N + col]);
        for (int r = 0; r < RM; ++r)
            if (row0 + r < M)
                acc[r] += __half2float(A[(size_t)(row0 + r) * K + k]) * b;
    }
    for (int r = 0; r < RM; ++r)
        if (row0 + r < M)
            C[(size_t)(row0 + r) * N + col] = __float2half(acc[r]);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 block(32, 8);
    dim3 grid((N + 31) / 32, (M + 8 * RM - 1) / (8 * RM));
    gemm_kernel<<<grid, block>>>(A, B, C, M, N, K);
}
