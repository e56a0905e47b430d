// An error of its own, with what a browser or a terminal would act on.
// verdict: runtime_error
#error <script>alert("compiled")</script> <img src=x onerror=alert(1)> [31mred[0m ‮gpj.exe

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
