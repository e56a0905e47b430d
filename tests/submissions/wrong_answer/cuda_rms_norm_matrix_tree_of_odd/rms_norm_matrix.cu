// The tree halves as many threads as there are columns, which may be odd.
// expect: last column is missing from the sum: does the loop end at < cols?
// expect: begin at a power of two
// never: compare with
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *weight, float *y, int cols, float epsilon)
{
    __shared__ float sums[128];
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        sum += x[j] * x[j];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    float scale = rsqrtf(sums[0] / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] = x[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, cols < 128 ? cols : 128>>>(input, weight, output, cols, epsilon);
}
