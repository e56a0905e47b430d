// Rows are read as float4, also where 4 does not divide their length.
// expect: in line 17
// expect: 16
// never: tl.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    __shared__ float total;
    const float *x = input + (size_t)blockIdx.x * cols;
    float *y = output + (size_t)blockIdx.x * cols;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols / 4; j += blockDim.x) {
        float4 v = reinterpret_cast<const float4 *>(x)[j];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int j = cols / 4 * 4 + threadIdx.x; j < cols; j += blockDim.x)
        sum += x[j] * x[j];
    atomicAdd(&total, sum);
    __syncthreads();
    float scale = rsqrtf(total / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] = x[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<rows, 128>>>(input, weight, output, cols, epsilon);
}
