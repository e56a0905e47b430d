// The maximum takes 32 warps' elements of shared memory, where a block has eight warps.
// expect: reads elements of your own array `found` that nothing has written
// expect: line 17
// never: register
#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *input, float *output, int cols)
{
    __shared__ float found[32];
    const float *x = input + size_t(blockIdx.x) * cols;
    int thread = threadIdx.x, lane = thread % 32;
    float most = -INFINITY, sum = 0.0f;
    for (int i = thread; i < cols; i += blockDim.x) most = fmaxf(most, x[i]);
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    if (lane == 0) found[thread / 32] = most;
    __syncthreads();
    most = found[lane];
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    __syncthreads();
    for (int i = thread; i < cols; i += blockDim.x) sum += expf(x[i] - most);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) found[thread / 32] = sum;
    __syncthreads();
    sum = lane < blockDim.x / 32 ? found[lane] : 0.0f;
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    for (int i = thread; i < cols; i += blockDim.x) output[size_t(blockIdx.x) * cols + i] = expf(x[i] - most) / sum;
}

void softmax(float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, 256>>>(input, output, cols);
}
