// The next tile is stored while threads still read this one; a block has two tiles only in sizes for a GPU.
// expect: __syncthreads()
// expect: tile
// never: tl.
#include <cuda_runtime.h>

constexpr int TILE = 32, LINES = 8, MOST_BLOCKS = 8192;

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols, int across, int tiles)
{
    __shared__ float tile[TILE][TILE + 1];
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        int row = number / across * TILE, column = number % across * TILE;
        for (int line = threadIdx.y; line < TILE; line += LINES)
            if (row + line < rows && column + threadIdx.x < cols)
                tile[line][threadIdx.x] = input[size_t(row + line) * cols + column + threadIdx.x];
        __syncthreads();
        for (int line = threadIdx.y; line < TILE; line += LINES)
            if (column + line < cols && row + threadIdx.x < rows)
                output[size_t(column + line) * rows + row + threadIdx.x] = tile[threadIdx.x][line];
    }
}

void transpose(const float *input, float *output, int rows, int cols)
{
    int across = (cols + TILE - 1) / TILE, tiles = across * ((rows + TILE - 1) / TILE);
    int blocks = tiles < MOST_BLOCKS ? tiles : MOST_BLOCKS;
    transpose_kernel<<<blocks, dim3(TILE, LINES)>>>(input, output, rows, cols, across, tiles);
}
