// The sum is taken in a stream of its own, and an event tells the default stream when it is there.
// never: streams
#include <cuda_runtime.h>

#define THREADS 256

__global__ void sum_kernel(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = sums[0];
}

__global__ void scale_kernel(const float *x, const float *weight, const float *total, float *y, int n, float epsilon)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaStream_t side;
    cudaEvent_t summed;
    cudaMalloc(&total, sizeof(float));
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreate(&summed);
    sum_kernel<<<1, THREADS, 0, side>>>(input, total, cols);
    cudaEventRecord(summed, side);
    cudaStreamWaitEvent(0, summed, 0);
    scale_kernel<<<(cols + THREADS - 1) / THREADS, THREADS>>>(input, weight, total, output, cols, epsilon);
    cudaFree(total);
    cudaEventDestroy(summed);
    cudaStreamDestroy(side);
}
