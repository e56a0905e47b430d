// A block's threads take eight rounds, each a block's width further on: a round is taken for one element.
// expect: were never written
// proved: line 16 makes every case right: a missing factor or divisor added
#include <cuda_runtime.h>

__device__ float gelu_of(float v)
{
    return 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

__global__ void gelu_kernel(const float *x, float *y, int n)
{
    const int rounds = 8;
    const size_t first = (size_t)blockIdx.x * blockDim.x * rounds + threadIdx.x;
    for (int round = 0; round < rounds; ++round)
        if (const size_t place = round + first; place < n)
            y[place] = gelu_of(x[place]);
}

void gelu(const float *input, float *output, int n)
{
    gelu_kernel<<<(n + 1023) / 1024, 128>>>(input, output, n);
}
