// One cooperative launch with a barrier for the whole grid.
#include <algorithm>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void rms_norm_kernel(const float *x, const float *weight, float *y, float *total, int n, float epsilon)
{
    cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == 0)
        *total = 0.0f;
    grid.sync();
    float sum = 0.0f;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += x[i] * x[i];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
    grid.sync();
    float scale = rsqrtf(*total / n + epsilon);
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        y[i] = x[i] * weight[i] * scale;
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaMalloc(&total, sizeof(float));
    int per_processor = 0, processors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, rms_norm_kernel, 256, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = std::min((cols + 255) / 256, std::min(2, per_processor) * processors);
    void *arguments[] = {&input, &weight, &output, &total, &cols, &epsilon};
    cudaLaunchCooperativeKernel((void *)rms_norm_kernel, dim3(blocks), dim3(256), arguments, 0, 0);
    cudaFree(total);
}
