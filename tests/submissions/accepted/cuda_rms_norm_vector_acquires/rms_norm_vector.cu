// The first block adds the whole vector and releases a flag; the others wait for it by loads that acquire.
#include <cuda/atomic>
#include <cuda_runtime.h>

constexpr int BLOCKS = 6;
constexpr int THREADS = 512;

__global__ void rms_norm(const float *x, const float *w, float *scale, int *ready, float *y, int n, float epsilon)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
    if (blockIdx.x > 0) {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
    } else {
        __shared__ float sums[THREADS];
        float sum = 0.0f;
        for (int i = threadIdx.x; i < n; i += THREADS)
            sum = fmaf(x[i], x[i], sum);
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            *scale = rsqrtf(sums[0] / n + epsilon);
            flag.store(1, cuda::memory_order_release);
        }
        __syncthreads();
    }
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS)
        y[i] = x[i] * *scale * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *scale;
    int *ready;
    cudaMalloc(&scale, sizeof(float));
    cudaMalloc(&ready, sizeof(int));
    cudaMemset(ready, 0, sizeof(int));
    void *arguments[] = {&input, &weight, &scale, &ready, &output, &cols, &epsilon};
    cudaLaunchCooperativeKernel((void *)rms_norm, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
    cudaFree(ready);
    cudaFree(scale);
}
