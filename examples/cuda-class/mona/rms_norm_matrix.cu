#include <cuda_runtime.h>

__global__ void rms_norm(float *input, float *weight, float *output, int cols, float epsilon)
{
    __shared__ float cache[256];
    float *row = input + blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += row[i] * row[i];
    cache[threadIdx.x] = sum;
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride)
            cache[threadIdx.x] += cache[threadIdx.x + stride];
    }
    float rms = sqrtf(cache[0] / cols + epsilon);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        output[blockIdx.x * cols + i] = row[i] / rms * weight[i];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm<<<rows, 256>>>(input, weight, output, cols, epsilon);
}
