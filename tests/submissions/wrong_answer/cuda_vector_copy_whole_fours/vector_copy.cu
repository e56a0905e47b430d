// Four elements a thread, and nobody copies those that are no whole four.
// expect: never written
// expect: Each thread moves 4 elements at once
// never: blocks along
#include <cuda_runtime.h>

__global__ void copy_kernel(const float4 *from, float4 *to, int fours)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < fours)
        to[i] = from[i];
}

void vector_copy(const float *input, float *output, int n)
{
    int fours = n / 4;
    if (fours)
        copy_kernel<<<(fours + 127) / 128, 128>>>((const float4 *)input, (float4 *)output, fours);
}
