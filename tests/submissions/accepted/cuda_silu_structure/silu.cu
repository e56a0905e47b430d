// All arguments in one structure, pointers among them, with a gap before the last.
#include <cuda_runtime.h>

struct Arguments {
    const float *x;
    int n;
    float one;
    float *y;
    char unused;
};

__global__ void silu_kernel(Arguments a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.y[i] = a.x[i] / (a.one + expf(-a.x[i]));
}

void silu(float *input, float *output, int n)
{
    Arguments a = {input, n, 1.0f, output, 0};
    silu_kernel<<<(n + 255) / 256, 256>>>(a);
}
