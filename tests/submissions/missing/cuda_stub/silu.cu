// The template as it was handed out.
// SiLU: output = x · σ(x) = x / (1 + exp(−x)), element by element.
//
// input, output: n floats on the device, any n from 1 on. Write into output, which arrives full of NaN; leave input
// alone.

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *input, float *output, int n)
{
    // 1. Which element is this thread's? blockIdx.x, blockDim.x and threadIdx.x say so.
    // 2. Does it exist? The last block reaches past n.
    // 3. Load it, compute, store to output.
}

void silu(float *input, float *output, int n)
{
    // How many blocks of 256 threads are needed for n elements? Launch as silu_kernel<<<blocks, 256>>>(...).
    // not written yet: silu
}
