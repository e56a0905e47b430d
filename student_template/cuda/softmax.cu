// Softmax of each row: output[i, j] = exp(input[i, j] − max_i) / Σ over k of exp(input[i, k] − max_i).
//
// input, output: rows·cols floats, row after row, on the device, any sizes from 1 on. Write into output, which
// arrives full of NaN; leave input alone.

#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *input, float *output, int cols)
{
    // 1. Which row is this block's, and at which element does it begin?
    // 2. Find the maximum of the row: of each thread's elements, then of the block, through __shared__ memory.
    //    What does a thread without elements begin with?
    // 3. The same for the sum of exp(x − maximum). Then divide, and store.
}

void softmax(const float *input, float *output, int rows, int cols)
{
    // A block for each row: how many threads has it, when rows have 5 elements, or 20,000?
    // not written yet: softmax
}
