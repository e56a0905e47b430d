// The first threads of all warps add to one shared number at once.
// expect: use atomicAdd
// never: Call __syncthreads() between
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void softmax_kernel(const float *input, float *output, int cols)
{
    __shared__ float warp_max[8];
    __shared__ float total;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const float *x = input + (size_t)blockIdx.x * cols;

    float m = -INFINITY;
    for (int j = block.thread_rank(); j < cols; j += block.size())
        m = fmaxf(m, x[j]);
    m = cg::reduce(warp, m, cg::greater<float>());
    if (warp.thread_rank() == 0)
        warp_max[warp.meta_group_rank()] = m;
    if (block.thread_rank() == 0)
        total = 0.0f;
    block.sync();
    for (int w = 0; w < 8; ++w)
        m = fmaxf(m, warp_max[w]);

    float s = 0.0f;
    for (int j = block.thread_rank(); j < cols; j += block.size())
        s += expf(x[j] - m);
    s = cg::reduce(warp, s, cg::plus<float>());
    if (warp.thread_rank() == 0)
        total += s;
    block.sync();

    for (int j = block.thread_rank(); j < cols; j += block.size())
        output[(size_t)blockIdx.x * cols + j] = expf(x[j] - m) / total;
}

void softmax(const float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, 256>>>(input, output, cols);
}
