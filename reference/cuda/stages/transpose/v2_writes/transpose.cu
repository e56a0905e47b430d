// Stage 2: a thread an element, neighbours along a row of the output.
//
// Writes are coalesced now, and reads lie cols apart. A sector that was read for one element may still be in the
// cache when its neighbours are asked for; a sector that was written in part has to be fetched and completed.

#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols)
        output[i] = input[i % rows * cols + i / rows];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    size_t elements = (size_t)rows * cols;
    transpose_kernel<<<(elements + 255) / 256, 256>>>(input, output, rows, cols);
}
