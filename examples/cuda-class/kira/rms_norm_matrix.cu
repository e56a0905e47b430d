// Kira. One block per row, which stays in shared memory between its two passes.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    extern __shared__ float row[];
    __shared__ float parts[8];
    const float *x = input + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) {
        row[j] = x[j];
        sum += row[j] * row[j];
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lane);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < 8; ++warp)
        sum += parts[warp];
    float scale = rsqrtf(sum / cols + epsilon);
    for (int j = threadIdx.x; j < cols; j += 256)
        output[(size_t)blockIdx.x * cols + j] = row[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    int bytes = cols * sizeof(float);
    cudaFuncSetAttribute(rms_norm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    rms_norm_kernel<<<rows, 256, bytes>>>(input, weight, output, cols, epsilon);
}
