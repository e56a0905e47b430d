// The thread is missing from the index: each block copies one element.
// expect: all 256 threads of a block use the same element of x
// expect: Is threadIdx missing from the index
// never: tile
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockDim.x * blockIdx.x;
    if (i < n)
        to[i] = from[i];
}

void vector_copy(const float *input, float *output, int n)
{
    const int threads = 256;
    copy_kernel<<<(n + threads - 1) / threads, threads>>>(input, output, n);
}
