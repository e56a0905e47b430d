// 1 / cols is a whole number, 0.
// expect: `1 / cols` is 0 unless cols is 1
// never: partial block
#include <cuda_runtime.h>

__global__ void rms_norm_matrix_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    __shared__ float partial[256];
    int row = blockIdx.x;
    int t = threadIdx.x;

    float sum = 0.0f;
    for (int c = t; c < cols; c += 256)
        sum += input[row * cols + c] * input[row * cols + c];
    partial[t] = sum;
    __syncthreads();
    for (int stride = 128; stride >= 1; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }

    float mean = 1 / cols * partial[0];
    float r = rsqrtf(mean + epsilon);
    for (int c = t; c < cols; c += 256)
        output[row * cols + c] = input[row * cols + c] * r * weight[c];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_matrix_kernel<<<rows, 256>>>(input, weight, output, cols, epsilon);
}
