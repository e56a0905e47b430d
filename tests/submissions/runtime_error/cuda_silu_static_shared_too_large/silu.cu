// An array of 64 KiB in shared memory, where 48 are the most.
// expect: 65536
// expect: at most 48 KiB of shared memory
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float room[16384];
    room[threadIdx.x * 64] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float v = room[threadIdx.x * 64];
    if (i < n)
        y[i] = v / (1.0f + expf(-v));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
