// Parts of K are added by atomics in float, and rounded by a second kernel.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void part_kernel(const half *A, const half *B, float *sums, int M, int N, int K, int step)
{
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int k = blockIdx.z * step; k < min(K, (int)(blockIdx.z + 1) * step); ++k)
        sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    atomicAdd(&sums[row * N + col], sum);
}

__global__ void round_kernel(const float *sums, half *C, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = __float2half(sums[i]);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    float *sums;
    cudaMalloc(&sums, sizeof(float) * M * N);
    cudaMemset(sums, 0, sizeof(float) * M * N);
    int step = 64;
    dim3 blocks((N + 15) / 16, (M + 15) / 16, (K + step - 1) / step);
    part_kernel<<<blocks, dim3(16, 16)>>>(A, B, sums, M, N, K, step);
    round_kernel<<<(M * N + 255) / 256, 256>>>(sums, C, M * N);
    cudaFree(sums);
}
