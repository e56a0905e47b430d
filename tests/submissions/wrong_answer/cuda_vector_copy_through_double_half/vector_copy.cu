// Elements go through half on their way.
// expect: 16
// never: tl.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = __half2float(__float2half(from[i]));
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
