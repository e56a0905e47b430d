// A thread for each column: more than 1,024 columns are no block.
// expect: 1 to 1024 threads
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    __shared__ float sum;
    const float *x = input + (size_t)blockIdx.x * cols;
    float *y = output + (size_t)blockIdx.x * cols;
    int j = threadIdx.x;
    if (j == 0)
        sum = 0.0f;
    __syncthreads();
    atomicAdd(&sum, x[j] * x[j]);
    __syncthreads();
    y[j] = x[j] / sqrtf(sum / cols + epsilon) * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, cols>>>(input, weight, output, cols, epsilon);
}
