// The elements stay in their order.
// expect: in the order of x
// never: tl.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    int n = rows * cols;
    copy_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
