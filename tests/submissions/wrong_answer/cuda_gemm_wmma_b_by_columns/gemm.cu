// The tile of B lies in rows, and is loaded as if it lay in columns.
// proved: makes every case right: two parts exchanged
// never: tl.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#define TILE 16

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    __shared__ half left[TILE * TILE], right[TILE * TILE];
    __shared__ float sums[TILE * TILE];
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, TILE, TILE, TILE, half, nvcuda::wmma::row_major> a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, TILE, TILE, TILE, half, nvcuda::wmma::col_major> b;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, TILE, TILE, TILE, float> c;
    nvcuda::wmma::fill_fragment(c, 0.0f);
    int top = blockIdx.y * TILE, side = blockIdx.x * TILE;
    for (int begin = 0; begin < K; begin += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += warpSize) {
            int row = top + i / TILE, col = side + i % TILE;
            int across = begin + i % TILE, down = begin + i / TILE;
            left[i] = row < M && across < K ? A[row * K + across] : __float2half(0.0f);
            right[i] = down < K && col < N ? B[down * N + col] : __float2half(0.0f);
        }
        __syncwarp();
        nvcuda::wmma::load_matrix_sync(a, left, TILE);
        nvcuda::wmma::load_matrix_sync(b, right, TILE);
        nvcuda::wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    nvcuda::wmma::store_matrix_sync(sums, c, TILE, nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < TILE * TILE; i += warpSize) {
        int row = top + i / TILE, col = side + i % TILE;
        if (row < M && col < N)
            C[row * N + col] = __float2half_rn(sums[i]);
    }
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_kernel<<<blocks, 32>>>(A, B, C, M, N, K);
}
