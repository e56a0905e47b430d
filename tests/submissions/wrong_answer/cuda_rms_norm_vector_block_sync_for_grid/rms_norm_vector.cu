// A cooperative launch in which blocks meet their own threads alone before they add all blocks' sums.
// expect: grid.sync()
// expect: in a different order they give a different answer
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 8;
constexpr int THREADS = 128;

__device__ float sums[BLOCKS];

__global__ void normalise(const float *x, const float *weight, float *y, int n, float epsilon)
{
    __shared__ float of_warp[THREADS / 32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block mine = cg::this_thread_block();
    float square = 0.0f;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        square += x[i] * x[i];
    for (int lane = 16; lane > 0; lane /= 2)
        square += __shfl_xor_sync(0xffffffff, square, lane);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = square;
    mine.sync();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
    mine.sync();
    float total = 0.0f;
    for (int block = 0; block < BLOCKS; block++)
        total += sums[block];
    const float scale = rsqrtf(total / n + epsilon);
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        y[i] = x[i] * scale * weight[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    void *arguments[] = {&input, &weight, &output, &cols, &epsilon};
    cudaLaunchCooperativeKernel((void *)normalise, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
}
