// The tree's barrier stands in its `if`, and another one behind the loop.
// expect: do not come by the __syncthreads() in line 18
// expect: take it out of the `if`
// never: in line 21
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *w, float *y, int cols, float epsilon)
{
    __shared__ float sums[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 256)
        sum += x[size_t(blockIdx.x) * cols + i] * x[size_t(blockIdx.x) * cols + i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
    }
    __syncthreads();
    float scale = rsqrtf(sums[0] / cols + epsilon);
    for (int i = threadIdx.x; i < cols; i += 256)
        y[size_t(blockIdx.x) * cols + i] = x[size_t(blockIdx.x) * cols + i] * scale * w[i];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, 256>>>(input, weight, output, cols, epsilon);
}
