// The function takes pointers to double.
// expect: void silu(float *input, float *output, int n)
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0 + exp(-x[i]));
}

void silu(double *input, double *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
