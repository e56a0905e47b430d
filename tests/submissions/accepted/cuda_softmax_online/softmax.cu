// Maximum and sum in one pass, merged by shuffles.
#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *input, float *output, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *x = input + (size_t)row * cols;
    float top = -3.4e38f, sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 32) {
        float next = fmaxf(top, x[j]);
        sum = sum * expf(top - next) + expf(x[j] - next);
        top = next;
    }
    for (int lane = 16; lane > 0; lane >>= 1) {
        float other_top = __shfl_xor_sync(0xffffffff, top, lane);
        float other_sum = __shfl_xor_sync(0xffffffff, sum, lane);
        float next = fmaxf(top, other_top);
        sum = sum * expf(top - next) + other_sum * expf(other_top - next);
        top = next;
    }
    for (int j = threadIdx.x; j < cols; j += 32)
        output[(size_t)row * cols + j] = expf(x[j] - top) / sum;
}

void softmax(const float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<(rows + 7) / 8, dim3(32, 8)>>>(input, output, rows, cols);
}
