// Each block scales by its own sum.
// expect: sum of its own squares
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *weight, float *y, int n, float epsilon)
{
    __shared__ float sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0.0f;
    __syncthreads();
    if (i < n)
        atomicAdd(&sum, x[i] * x[i]);
    __syncthreads();
    if (i < n)
        y[i] = x[i] * weight[i] / sqrtf(sum / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    rms_norm_kernel<<<(cols + 1023) / 1024, 1024>>>(input, weight, output, cols, epsilon);
}
