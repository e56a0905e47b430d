// Copy of a vector: output[i] = input[i].
//
// input, output: n floats on the device, any n from 1 on. Write into output, which arrives full of NaN; leave input
// alone.

#include <cuda_runtime.h>

__global__ void vector_copy_kernel(const float *input, float *output, int n)
{
    // 1. Which element is this thread's? blockIdx.x, blockDim.x and threadIdx.x say so.
    // 2. Does it exist? The last block reaches past n.
    // 3. Load it from input, store it to output.
}

void vector_copy(const float *input, float *output, int n)
{
    // How many blocks of 256 threads are needed for n elements? Launch as vector_copy_kernel<<<blocks, 256>>>(...).
    // not written yet: vector_copy
}
