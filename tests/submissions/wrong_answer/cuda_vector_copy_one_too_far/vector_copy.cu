// Each element is the one after it.
// expect: one after it
// never: tl.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[(i + 1) % n];
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
