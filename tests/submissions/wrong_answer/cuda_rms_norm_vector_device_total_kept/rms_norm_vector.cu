// The total is a variable of the file: 0 at the start of the program, and never again.
// expect: keep something from one call to the next
// never: tl.
#include <cuda_runtime.h>

#define THREADS 256

__device__ float total = 0.0f;

__global__ void sum_kernel(const float *x, int n)
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
        atomicAdd(&total, sums[0]);
}

__global__ void scale_kernel(const float *x, const float *weight, float *y, int n, float epsilon)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = x[i] * weight[i] / sqrtf(total / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    int blocks = (cols + THREADS - 1) / THREADS;
    sum_kernel<<<min(blocks, 256), THREADS>>>(input, cols);
    scale_kernel<<<blocks, THREADS>>>(input, weight, output, cols, epsilon);
}
