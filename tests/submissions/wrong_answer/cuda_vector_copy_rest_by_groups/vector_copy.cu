// The rest behind the groups of four begins at the number of groups, not of elements.
// expect: nothing stores those from
// expect: is the number of whole groups of 4
// never: Work out its number
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, fours = n / 4;
    if (i < fours)
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];
    if (i < n % 4)
        y[fours + i] = x[fours + i];
}

void vector_copy(const float *input, float *output, int n)
{
    copy_kernel<<<n / 1024 + 1, 256>>>(input, output, n);
}
