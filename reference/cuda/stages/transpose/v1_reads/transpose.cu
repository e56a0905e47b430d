// Stage 1: a thread an element, neighbours along a row of the input.
//
// Reads are coalesced: a warp asks for 128 bytes in one line. Its writes lie rows apart, and each fills 4 bytes of a
// sector of 32. There are as many threads as elements, so other warps work while one waits.

#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols)
        output[i % cols * rows + i / cols] = input[i];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    size_t elements = (size_t)rows * cols;
    transpose_kernel<<<(elements + 255) / 256, 256>>>(input, output, rows, cols);
}
