// The first warp takes up what each of four warps has left, with all of its 32 lanes.
// expect: read nothing, and take what changes nothing
// expect: `found`
#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *x, float *y, int cols)
{
    __shared__ float found[4], whole;
    const float *row = x + (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int c = 0; c < cols; c++)
        most = fmaxf(most, row[c]);
    for (int c = threadIdx.x; c < cols; c += 128)
        sum += expf(row[c] - most);
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (threadIdx.x % 32 == 0)
        found[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        float part = found[threadIdx.x];
        for (int o = 16; o; o /= 2)
            part += __shfl_xor_sync(0xffffffff, part, o);
        if (threadIdx.x == 0)
            whole = part;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += 128)
        y[(size_t)blockIdx.x * cols + c] = expf(row[c] - most) / whole;
}

void softmax(const float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, 128>>>(input, output, cols);
}
