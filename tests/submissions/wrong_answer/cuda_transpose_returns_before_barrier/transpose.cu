// Threads without an element to load return, and miss the one that they should store.
// expect: have left before the __syncthreads() in line 17
// expect: let no thread return before a barrier
// never: Compare the index of the row
#include <cuda_runtime.h>

#define SIDE 16

__global__ void transpose_kernel(const float *in, float *out, int rows, int cols)
{
    __shared__ float room[SIDE][SIDE + 1];
    int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    if (row >= rows || column >= cols)
        return;

    room[threadIdx.y][threadIdx.x] = in[row * cols + column];
    __syncthreads();
    int across = blockIdx.y * SIDE + threadIdx.x, down = blockIdx.x * SIDE + threadIdx.y;
    if (down < cols && across < rows)
        out[down * rows + across] = room[threadIdx.x][threadIdx.y];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 threads(SIDE, SIDE), blocks((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
