// The last of an odd number is looked for behind as many elements as there are pairs.
// proved: makes every case right: a missing factor or divisor added
// never: tl.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int pairs = n / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x)
        ((float2 *)to)[i] = ((const float2 *)from)[i];
    const float *last = from + pairs;
    if (blockIdx.x == 0 && threadIdx.x < n % 2)
        to[n - 1] = last[threadIdx.x];
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<min((n + 511) / 512, 64), 256>>>(input, output, n);
}
