// Three blocks of 256 threads fit a multiprocessor by their threads, and two by their registers.
// expect: blocks at a time (cudaLaunchCooperativeKernel), where the GPU holds 264 at most, as each thread takes
// expect: further parts in a loop
#include <cooperative_groups.h>
#include <cuda_runtime.h>

constexpr int KEPT = 96;

__global__ void silu_kernel(const float *x, float *y, int n)
{
    float kept[KEPT];
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        kept[i] = x[(first + i) % n];
    cooperative_groups::this_grid().sync();
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        most = fmaxf(most, kept[i] * kept[KEPT - 1 - i]);
    for (int i = first; i < n; i += step)
        y[i] = most < 0.0f ? 0.0f : x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    void *arguments[] = {&input, &output, &n};
    cudaLaunchCooperativeKernel((void *)silu_kernel, dim3(132 * 3), dim3(256), arguments, 0, 0);
}
