// The sum of a block by CUB's block functions.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

template <int THREADS>
__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int cols, float epsilon)
{
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage room;
    __shared__ float scale;
    const float *x = input + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += THREADS)
        sum += x[j] * x[j];
    sum = Reduce(room).Sum(sum);
    if (threadIdx.x == 0)
        scale = rsqrtf(sum / cols + epsilon);
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += THREADS)
        output[(size_t)blockIdx.x * cols + j] = x[j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<128><<<rows, 128>>>(input, weight, output, cols, epsilon);
}
