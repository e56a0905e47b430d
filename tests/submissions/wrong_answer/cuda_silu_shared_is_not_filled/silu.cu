// Shared memory is read where nothing was stored: the store has another index than the load.
// expect: in line 14
// expect: room
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float room[512];
    if (i < n)
        room[threadIdx.x] = x[i];
    __syncthreads();
    float v = room[threadIdx.x + 256];
    if (i < n)
        y[i] = v / (1.0f + expf(-v));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
