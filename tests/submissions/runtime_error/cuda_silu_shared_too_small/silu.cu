// An array of 128 in shared memory for 256 threads.
// expect: in line 11
// expect: shared array `room`
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float room[128];
    room[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float v = room[threadIdx.x];
    if (i < n)
        y[i] = v / (1.0f + expf(-v));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
