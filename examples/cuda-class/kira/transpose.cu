// Kira. 32x8 threads, padded tile.
#include <cuda_runtime.h>

#define TILE 32
#define LINES 8

__global__ void transpose_kernel(const float *__restrict__ input, float *__restrict__ output, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.y * TILE + threadIdx.x;
#pragma unroll
    for (int line = threadIdx.y; line < TILE; line += LINES) {
        int row = blockIdx.x * TILE + line;
        if (row < rows && column < cols)
            tile[line][threadIdx.x] = input[(size_t)row * cols + column];
    }
    __syncthreads();
    int row = blockIdx.x * TILE + threadIdx.x;
#pragma unroll
    for (int line = threadIdx.y; line < TILE; line += LINES) {
        column = blockIdx.y * TILE + line;
        if (row < rows && column < cols)
            output[(size_t)column * rows + row] = tile[threadIdx.x][line];
    }
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 blocks((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
    transpose_kernel<<<blocks, dim3(TILE, LINES)>>>(input, output, rows, cols);
}
