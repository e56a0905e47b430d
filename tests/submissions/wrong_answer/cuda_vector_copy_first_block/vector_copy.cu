// The block is missing from the index of the load.
// expect: first block
// never: tl.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[threadIdx.x];
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
