// A line sets the maximum before the sum is rescaled from the old one to the new one.
// expect: constant factor of its own
// proved: delete a part of line 14
#include <cuda_runtime.h>
#include <float.h>

// A warp for each row: each lane has a maximum and a sum of its own, which are brought together behind the loop.
__global__ void softmax_kernel(const float *x, float *y, int cols)
{
    const float *from = x + (size_t)blockIdx.x * cols;
    float most = -FLT_MAX, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) {
        const float value = from[i];
        most = fmaxf(most, value);
        const float larger = fmaxf(most, value);
        sum = sum * expf(most - larger) + expf(value - larger);
        most = larger;
    }
    float top = most;
    for (int apart = 16; apart > 0; apart /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, apart));
    sum *= expf(most - top);
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, apart);
    for (int i = threadIdx.x; i < cols; i += 32)
        y[(size_t)blockIdx.x * cols + i] = expf(from[i] - top) / sum;
}

void softmax(float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, 32>>>(input, output, cols);
}
