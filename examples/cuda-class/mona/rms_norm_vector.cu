#include <cuda_runtime.h>

__global__ void square_sum(float *input, float *sum, int cols)
{
    __shared__ float cache[256];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    cache[threadIdx.x] = idx < cols ? input[idx] * input[idx] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            cache[threadIdx.x] += cache[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, cache[0]);
}

__global__ void normalize(float *input, float *weight, float *sum, float *output, int cols, float epsilon)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < cols)
        output[idx] = input[idx] / sqrtf(*sum / cols + epsilon) * weight[idx];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    // cudaMalloc gives zeros, as far as I can see
    float *sum;
    cudaMalloc(&sum, sizeof(float));
    int blocks = (cols + 255) / 256;
    square_sum<<<blocks, 256>>>(input, sum, cols);
    normalize<<<blocks, 256>>>(input, weight, sum, output, cols, epsilon);
    cudaFree(sum);
}
