// cudaMemset counts bytes: of 64 sums the first 16 are set to 0.
// expect: Line 33 sets 64 of the 256 bytes of `sums`, and line 22 reads bytes that it did not set. cudaMemset counts bytes
// proved: line 33 makes every case right: a missing factor or divisor added
#include <cuda_runtime.h>

#define SUMS 64

// Each warp adds to one of the sums.
__global__ void add(const float *x, float *sums, int n)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * x[i];
    atomicAdd(&sums[warp % SUMS], sum);
}

__global__ void norm(const float *x, const float *weight, const float *sums, float *y, int n, float eps)
{
    float total = 0.0f;
    for (int part = 0; part < SUMS; ++part)
        total += sums[part];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i] * weight[i] / sqrtf(total / n + eps);
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    void *memory;
    cudaMalloc(&memory, SUMS * sizeof(float));
    float *sums = static_cast<float *>(memory);
    const int blocks = min((cols + 127) / 128, 512);
    cudaMemsetAsync(sums, 0, SUMS);
    add<<<blocks, 128>>>(input, sums, cols);
    norm<<<blocks, 128>>>(input, weight, sums, output, cols, epsilon);
    cudaFree(memory);
}
