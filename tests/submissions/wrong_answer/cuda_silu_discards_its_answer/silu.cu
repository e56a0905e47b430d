// Lines of the cache that hold the answer are discarded, so that anything may stand there.
// expect: wrong
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *input, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        output[i] = input[i] / (1.0f + expf(-input[i]));
    __threadfence();
    __syncthreads();
    if (i % 32 == 0 && i + 32 <= n)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(output + i) : "memory");
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
