// A barrier that only the threads with an element reach.
// expect: __syncthreads()
// expect: not reached by all threads
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float room[256];
    if (i < n) {
        room[255 - threadIdx.x] = x[i];
        __syncthreads();
        float v = room[255 - threadIdx.x];
        y[i] = v / (1.0f + expf(-v));
    } else {
        __threadfence();
        __syncthreads();
        __syncthreads();
    }
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
