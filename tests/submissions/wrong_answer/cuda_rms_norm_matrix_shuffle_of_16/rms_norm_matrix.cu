// The shuffles begin at 8: half of the warp is not in the sum.
// expect: elements are wrong
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int rows, int cols,
                                float epsilon)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *x = input + (size_t)row * cols;
    float *y = output + (size_t)row * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 32)
        sum += x[j] * x[j];
    for (int lane = 8; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lane);
    float scale = rsqrtf(sum / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += 32)
        y[j] = x[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    dim3 threads(32, 4);
    rms_norm_kernel<<<(rows + 3) / 4, threads>>>(input, weight, output, rows, cols, epsilon);
}
