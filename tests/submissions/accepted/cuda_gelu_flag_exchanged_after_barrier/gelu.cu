// A flag that thread 0 exchanges when all warps have read it.
#include <cuda_runtime.h>

#define T 256
__global__ void gelu_kernel(const float *input, float *output, int n)
{
    __shared__ int more;
    int base = blockIdx.x * (4 * T);
    int step = 0;
    if (threadIdx.x == 0) more = 1;
    __syncthreads();
    while (more) {
        int i = base + step * T + threadIdx.x;
        if (i < n) {
            float x = input[i];
            output[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
        }
        step++;
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(&more, step < 4 && base + step * T < n);
        __syncthreads();
    }
}
void gelu(float *input, float *output, int n)
{
    gelu_kernel<<<(n + 4 * T - 1) / (4 * T), T>>>(input, output, n);
}
