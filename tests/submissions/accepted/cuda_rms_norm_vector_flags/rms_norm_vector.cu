// Blocks tell of their sums by flags, and wait for those of all others: an order that no barrier makes.
#include <cuda_runtime.h>

constexpr int BLOCKS = 6;
constexpr int THREADS = 128;

__global__ void rms_norm(
    const float *x, const float *w, float *sums, volatile int *ready, float *y, int n, float epsilon)
{
    __shared__ float tree[THREADS];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += BLOCKS * THREADS)
        own = fmaf(x[i], x[i], own);
    tree[t] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            tree[t] += tree[t + half];
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[0];
        __threadfence();
        ready[blockIdx.x] = 1;
        for (int block = 0; block < BLOCKS; block++)
            while (ready[block] == 0) {
            }
        __threadfence();
    }
    __syncthreads();
    float total = 0.0f;
    for (int block = 0; block < BLOCKS; block++)
        total += sums[block];
    const float scale = rsqrtf(total / n + epsilon);
    for (int i = blockIdx.x * THREADS + t; i < n; i += BLOCKS * THREADS)
        y[i] = x[i] * scale * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *sums;
    int *ready;
    cudaMalloc(&sums, BLOCKS * sizeof(float));
    cudaMalloc(&ready, BLOCKS * sizeof(int));
    cudaMemset(ready, 0, BLOCKS * sizeof(int));
    void *arguments[] = {&input, &weight, &sums, &ready, &output, &cols, &epsilon};
    cudaLaunchCooperativeKernel((void *)rms_norm, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
    cudaFree(ready);
    cudaFree(sums);
}
