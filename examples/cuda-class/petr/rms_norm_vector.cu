// the sum goes to the CPU and back: one number, so it can not be slow
#include <cuda_runtime.h>
#include <math.h>

__global__ void sum_squares(const float *x, float *sum, int n)
{
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += x[i] * x[i];
    for (int d = 16; d > 0; d /= 2)
        s += __shfl_down_sync(0xffffffff, s, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, s);
}

__global__ void scale(const float *x, const float *w, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * w[i] * factor;
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *d_sum, h_sum = 0.0f;
    cudaMalloc(&d_sum, sizeof(float));
    cudaMemcpy(d_sum, &h_sum, sizeof(float), cudaMemcpyHostToDevice);
    sum_squares<<<120, 256>>>(input, d_sum, cols);
    cudaMemcpy(&h_sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost);
    scale<<<(cols + 255) / 256, 256>>>(input, weight, output, cols, 1.0f / sqrtf(h_sum / cols + epsilon));
    cudaFree(d_sum);
}
