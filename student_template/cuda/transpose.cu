// Transpose: output[j, i] = input[i, j].
//
// input: rows·cols floats, row after row; output: cols·rows floats; both on the device, any sizes from 1 on. Write into
// output, which arrives full of NaN; leave input alone. Every bit must arrive as it was.

#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *input, float *output, int rows, int cols)
{
    // 1. Which tile of input is this block's, and which element of it this thread's? Does it exist?
    // 2. Threads that are neighbours along x should load neighbours, and store neighbours: __shared__ memory can
    //    be written along rows and read along columns. What has to stand between?
    // 3. Where does the tile go in output, whose rows have `rows` elements?
}

void transpose(const float *input, float *output, int rows, int cols)
{
    // How many tiles cover rows and cols? A block has at most 1,024 threads.
    // not written yet: transpose
}
