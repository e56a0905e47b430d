// Ranks by cooperative groups.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void silu_kernel(const float *x, float *y, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int i = block.group_index().x * block.size() + warp.meta_group_rank() * warp.size() + warp.thread_rank();
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
    block.sync();
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + 127) / 128, 128>>>(input, output, n);
}
