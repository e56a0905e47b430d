// Elements of the tiles that lie past K keep what they held, and are multiplied.
// expect: nothing has written
// expect: no thread stores to these elements
// never: gaps between
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void tiled(const half *a, const half *b, half *c, int M, int N, int K)
{
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.f;
    for (int begin = 0; begin < K; begin += TILE) {
        if (row < M && begin + x < K)
            left[y][x] = __half2float(a[row * K + begin + x]);
        if (begin + y < K && column < N)
            right[y][x] = __half2float(b[(begin + y) * N + column]);
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < M && column < N)
        c[row * N + column] = __float2half_rn(sum);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    tiled<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(A, B, C, M, N, K);
}
