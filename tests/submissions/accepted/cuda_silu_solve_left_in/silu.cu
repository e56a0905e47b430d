// A main that tests the kernel stands in the file: it is not run, and may do what it likes.
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

int main()
{
    const int n = 1000;
    float *h = (float *)malloc(n * sizeof(float)), *back = (float *)malloc(n * sizeof(float)), *x, *y;
    for (int i = 0; i < n; ++i)
        h[i] = rand() / (float)RAND_MAX;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    silu(x, y, n);
    cudaMemcpy(back, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (fabs(back[i] - h[i] / (1 + exp(-h[i]))) > 1e-5)
            printf("wrong at %d: %f\n", i, back[i]);
    return 0;
}
