// A kernel sets the weight to zero, and the output as well.
// verdict: wrong_answer
#include <cuda_runtime.h>

__global__ void zero_kernel(float *weight, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        weight[i] = output[i] = 0.0f;
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    zero_kernel<<<(cols + 255) / 256, 256>>>(weight, output, cols);
}
