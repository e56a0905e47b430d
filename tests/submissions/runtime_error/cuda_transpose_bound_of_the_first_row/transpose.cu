// Each thread stores four rows, and the condition is that of the first one.
// expect: compares `r`, and the index in line 19 holds `r + k`, in which a loop counts `k`
// expect: Compare `r + k` with the size
// never: (C, H, W)
#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *x, float *y, int M, int N)
{
    __shared__ float tile[32][33];
    int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = (r + k < M && c < N) ? x[(r + k) * N + c] : 0.f;
    __syncthreads();
    r = blockIdx.x * 32 + threadIdx.y;
    c = blockIdx.y * 32 + threadIdx.x;
    if (r < N && c < M) {
        for (int k = 0; k < 32; k += 8) {
            // Column k of the tile becomes a row.
            y[(r + k) * M + c] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 blocks((cols + 31) / 32, (rows + 31) / 32), threads(32, 8);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
