// The launch fails, and the answer of cudaGetLastError is printed and ignored.
// expect: 1536
// expect: 1 to 1024 threads
// never: tl.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 1536;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
}
