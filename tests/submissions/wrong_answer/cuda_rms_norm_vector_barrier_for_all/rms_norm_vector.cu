// __syncthreads() is taken for a barrier of all blocks.
// expect: Blocks do not wait for each other
// expect: __syncthreads() is for the threads of one block
// never: first index
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *weight, float *total, float *y, int n, float epsilon)
{
    __shared__ float squares[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    squares[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            squares[threadIdx.x] += squares[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, squares[0]);
    __syncthreads();
    float scale = rsqrtf(total[0] / n + epsilon);
    if (i < n)
        y[i] = x[i] * scale * weight[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    rms_norm_kernel<<<(cols + 127) / 128, 128>>>(input, weight, total, output, cols, epsilon);
    cudaFree(total);
}
