// The total is set to 0 once, and the next call adds to it.
// expect: keep something from one call to the next
// never: tl.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void sum_kernel(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, sums[0]);
}

__global__ void scale_kernel(const float *x, const float *weight, const float *total, float *y, int n, float epsilon)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    static float *total = nullptr;
    if (total == nullptr) {
        cudaMalloc(&total, sizeof(float));
        cudaMemset(total, 0, sizeof(float));
    }
    int blocks = (cols + THREADS - 1) / THREADS;
    sum_kernel<<<min(blocks, 256), THREADS>>>(input, total, cols);
    scale_kernel<<<blocks, THREADS>>>(input, weight, total, output, cols, epsilon);
}
