// One thread goes through all elements: right, and too long for the simulator at the largest size.
// expect: needs a GPU
// on a gpu: accepted; a GPU gets to the end
// alone on a gpu: its kernel takes long to end there
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    for (int i = 0; i < n; ++i)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<1, 1>>>(input, output, n);
}
