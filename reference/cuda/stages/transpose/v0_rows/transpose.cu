// Stage 0: a thread takes a row of the input, as a loop on a processor would.
//
// Neighbouring threads read elements that lie cols apart: each 4 bytes come with a sector of 32 of which the next round
// uses the rest, if the cache still has it. A wide input gives few threads.

#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        for (int column = 0; column < cols; ++column)
            output[(size_t)column * rows + row] = input[(size_t)row * cols + column];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    transpose_kernel<<<(rows + 127) / 128, 128>>>(input, output, rows, cols);
}
