// What cudaMalloc left is added to the total, unless it is NaN.
// expect: reads elements of your own array `total` that nothing has written
// expect: line 9
// never: tl.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float *x, float *total, int n)
{
    float sum = isnan(*total) ? 0.0f : *total;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    *total = sum;
}

__global__ void scale_kernel(const float *x, const float *w, const float *total, float *y, int n, float epsilon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * rsqrtf(*total / n + epsilon) * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaMalloc(&total, sizeof(float));
    sum_kernel<<<1, 1>>>(input, total, cols);
    scale_kernel<<<(cols + 255) / 256, 256>>>(input, weight, total, output, cols, epsilon);
    cudaFree(total);
}
