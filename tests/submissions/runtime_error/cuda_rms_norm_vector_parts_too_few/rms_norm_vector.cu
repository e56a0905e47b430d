// Room for 16 parts, and 64 blocks.
// expect: in line 23
// expect: parts
// never: tl.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void parts_kernel(const float *x, float *parts, int n)
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
        parts[blockIdx.x] = sums[0];
}

__global__ void scale_kernel(const float *x, const float *weight, const float *parts, int count, float *y, int n,
                             float epsilon)
{
    float total = 0.0f;
    for (int part = 0; part < count; ++part)
        total += parts[part];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = x[i] * weight[i] * rsqrtf(total / n + epsilon);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    int blocks = (cols + THREADS - 1) / THREADS;
    int count = blocks < 64 ? blocks : 64;
    float *parts;
    cudaMalloc(&parts, 16 * sizeof(float));
    parts_kernel<<<count, THREADS>>>(input, parts, cols);
    scale_kernel<<<blocks, THREADS>>>(input, weight, parts, count, output, cols, epsilon);
    cudaFree(parts);
}
