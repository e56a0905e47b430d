// RMSNorm of each row: output[i, j] = input[i, j] · weight[j] / √(mean over j of input[i, j]² + epsilon).
//
// input, output: rows·cols floats, row after row; weight: cols floats; all on the device, any sizes from 1 on. Write
// into output, which arrives full of NaN; leave input and weight alone.

#include <cuda_runtime.h>

__global__ void rms_norm_matrix_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    // 1. Which row is this block's, and at which element does it begin?
    // 2. Sum the squares of the row: each thread takes every blockDim.x-th element, then the block adds what its
    //    threads have, through __shared__ memory. Between a store and another thread's load stands
    //    __syncthreads().
    // 3. Divide by cols, add epsilon, take the root, scale by the weight of each column, store.
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    // A block for each row: how many threads has it, when rows have 5 elements, or 20,000?
    // not written yet: rms_norm_matrix
}
