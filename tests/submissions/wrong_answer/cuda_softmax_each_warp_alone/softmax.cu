// Shuffles end within a warp, and a block has eight: right up to 32 columns.
// expect: Each sum is that of one warp's elements
// never: tl.
#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *input, float *output, int cols)
{
    const float *x = input + size_t(blockIdx.x) * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) most = fmaxf(most, x[i]);
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(x[i] - most);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) output[size_t(blockIdx.x) * cols + i] = expf(x[i] - most) / sum;
}

void softmax(float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, 256>>>(input, output, cols);
}
