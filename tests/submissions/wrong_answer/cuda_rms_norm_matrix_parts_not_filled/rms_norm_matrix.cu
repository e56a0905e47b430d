// Eight warps leave their sums, and 32 are added: the others hold anything.
// expect: in line 23
// expect: sums
// expect: nothing has written
// never: tl.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    __shared__ float sums[32];
    const float *x = input + (size_t)blockIdx.x * cols;
    float *y = output + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += THREADS)
        sum += x[j] * x[j];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lane);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = sums[threadIdx.x % 32];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lane);
    float rms = sqrtf(sum / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += THREADS)
        y[j] = x[j] / rms * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
}
