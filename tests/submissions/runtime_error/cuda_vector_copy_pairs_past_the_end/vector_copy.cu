// Pairs of elements, rounded up: the last of an odd number has no partner.
// expect: moves 2 elements at once
// never: index of the row
#include <cuda_runtime.h>

__global__ void copy_kernel(const float2 *x, float2 *y, int pairs)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<(n + 511) / 512, 256>>>((const float2 *)input, (float2 *)output, (n + 1) / 2);
}
