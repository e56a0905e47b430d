// Blocks read the total in the launch that adds to it: others may not have added yet.
// expect: launch
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *weight, float *total, float *y, int n, float epsilon)
{
    __shared__ float sums[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, sums[0]);
    __syncthreads();
    if (i < n)
        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    rms_norm_kernel<<<(cols + 255) / 256, 256>>>(input, weight, total, output, cols, epsilon);
    cudaFree(total);
}
