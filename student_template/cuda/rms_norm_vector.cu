// RMSNorm of one vector: output = input · weight / √(mean(input²) + epsilon).
//
// input, weight, output: cols floats on the device, any number from 1 to many millions. Write into output, which
// arrives full of NaN; leave input and weight alone.

#include <cuda_runtime.h>

__global__ void sum_of_squares_kernel(const float *input, float *parts, int cols)
{
    // 1. Sum the squares of this thread's elements. What must elements past cols count as in a sum?
    // 2. Sum over the threads of the block, through __shared__ memory: who waits for whom, and where?
    // 3. One thread stores the sum where no other block stores.
}

__global__ void scale_kernel(const float *input, const float *weight, const float *parts, float *output, int cols,
                             float epsilon)
{
    // 1. Get the sum of all parts, then the mean: divide by cols, not by the number of threads.
    // 2. Scale this thread's elements, and store them.
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    // No block may scale before every block has summed: two launches run one after the other.
    // cudaMalloc gives a place for the parts; what it holds at first is nobody's guess.
    // not written yet: rms_norm_vector
}
