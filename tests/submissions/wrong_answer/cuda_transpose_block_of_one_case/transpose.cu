// Blocks of 16×16 threads for tiles of 32×32.
// expect: never written
// expect: cover 16 x 16
// never: tl.
#include <cuda_runtime.h>

#define TILE 32

__global__ void transpose_kernel(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int row = blockIdx.x * TILE + threadIdx.y;
    int col = blockIdx.y * TILE + threadIdx.x;
    if (row < rows && col < cols)
        tile[threadIdx.y][threadIdx.x] = in[(size_t)row * cols + col];
    __syncthreads();
    row = blockIdx.x * TILE + threadIdx.x;
    col = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && col < cols)
        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 threads(16, 16);
    dim3 blocks((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
