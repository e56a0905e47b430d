// A copy from the last element to the first: i = 0 is taken for element n, behind the last one.
// expect: 1 element past the end
// proved: line 9 makes every case right: a missing part added
#include <cuda_runtime.h>

__global__ void backwards(const float *__restrict__ from, float *__restrict__ to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[n - i] = from[n - 1 - i];
}

void vector_copy(const float *input, float *output, int n)
{
    backwards<<<(n + 511) / 512, 512>>>(input, output, n);
}
