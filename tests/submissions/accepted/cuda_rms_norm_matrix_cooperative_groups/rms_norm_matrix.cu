// Tiles of 16 threads, each with a row, reduced by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int rows, int cols,
                                float epsilon)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int row = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int j = tile.thread_rank(); j < cols; j += tile.size()) {
        float x = input[(size_t)row * cols + j];
        sum += x * x;
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    float scale = rsqrtf(sum / cols + epsilon);
    for (int j = tile.thread_rank(); j < cols; j += tile.size())
        output[(size_t)row * cols + j] = input[(size_t)row * cols + j] * scale * weight[j];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<(rows + 7) / 8, 128>>>(input, weight, output, rows, cols, epsilon);
}
