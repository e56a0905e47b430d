// The first thread stores its warp's sum for all.
// expect: Only the elements of the first warp are in the sum
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *w, float *y, int cols, float epsilon)
{
    __shared__ float total;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += x[size_t(blockIdx.x) * cols + i] * x[size_t(blockIdx.x) * cols + i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) total = sum;
    __syncthreads();
    float scale = rsqrtf(total / cols + epsilon);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[size_t(blockIdx.x) * cols + i] = x[size_t(blockIdx.x) * cols + i] * scale * w[i];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, 128>>>(input, weight, output, cols, epsilon);
}
