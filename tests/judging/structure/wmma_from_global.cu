// A warp for a tile of 16 x 16, with fragments loaded from global memory.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void tiles(const half *A, const half *B, half *C, int M, int N, int K)
{
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + (size_t)row * K + k, K);
        wmma::load_matrix_sync(b, B + (size_t)k * N + column, N);
        wmma::mma_sync(c, a, b, c);
    }
    __shared__ float tile[256];
    wmma::store_matrix_sync(tile, c, 16, wmma::mem_row_major);
    __syncwarp();
    for (int at = threadIdx.x; at < 256; at += 32)
        C[(size_t)(row + at / 16) * N + column + at % 16] = __float2half(tile[at]);
}

__global__ void elements(const half *A, const half *B, half *C, int M, int N, int K)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
    C[(size_t)i * N + j] = __float2half(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    if (M % 16 || N % 16 || K % 16)
        elements<<<dim3((N + 127) / 128, M), 128>>>(A, B, C, M, N, K);
    else
        tiles<<<dim3(N / 16, M / 16), 32>>>(A, B, C, M, N, K);
}
