// Elements go through shared memory to other threads, without a barrier.
// expect: __syncthreads()
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float room[256];
    int first = blockIdx.x * blockDim.x, count = min(256, n - first);
    if (i < n)
        room[count - 1 - threadIdx.x] = x[i];
    if (i < n) {
        float v = room[threadIdx.x];
        y[first + count - 1 - threadIdx.x] = v / (1.0f + expf(-v));
    }
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
