// Stage 3: a block turns a tile of 32×32 elements through shared memory.
//
// It reads rows of the input and writes rows of the output: both sides are coalesced. Threads that read down a column
// of the tile all meet the same bank of shared memory, 32 times in turn: a row of the tile is as long as there are
// banks.

#include <cuda_runtime.h>

#define TILE 32

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int row = blockIdx.x * TILE + threadIdx.y;
    int column = blockIdx.y * TILE + threadIdx.x;
    if (row < rows && column < cols)
        tile[threadIdx.y][threadIdx.x] = input[(size_t)row * cols + column];
    __syncthreads();
    row = blockIdx.x * TILE + threadIdx.x;
    column = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < cols)
        output[(size_t)column * rows + row] = tile[threadIdx.x][threadIdx.y];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    // The first axis may have 2³¹ blocks, the second one 65,535.
    dim3 blocks((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
    transpose_kernel<<<blocks, dim3(TILE, TILE)>>>(input, output, rows, cols);
}
