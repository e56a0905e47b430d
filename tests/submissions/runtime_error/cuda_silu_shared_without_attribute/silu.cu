// 64 KiB of dynamic shared memory without asking for the permission.
// expect: 65536
// expect: cudaFuncAttributeMaxDynamicSharedMemorySize
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    extern __shared__ float room[];
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
    silu_kernel<<<blocks, threads, 65536>>>(input, output, n);
}
