// The sums are written over the maximum, which other threads may not have read yet.
// expect: in line 24 and in line 28 at the same time
// expect: Call __syncthreads() after line 24
// expect: before line 28
// never: next iteration
#include <cuda_runtime.h>

__global__ void rows(const float *x, float *y, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float top = -INFINITY, sum = 0.f;
    for (int i = t; i < n; i += 128)
        top = fmaxf(top, x[i]);
    part[t] = top;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    top = part[0];
    for (int i = t; i < n; i += 128)
        sum += expf(x[i] - top);
    // Each thread has a place of its own.
    part[t] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    for (int i = t; i < n; i += 128)
        y[i] = expf(x[i] - top) / part[0];
}

void softmax(const float *input, float *output, int m, int n)
{
    rows<<<m, 128>>>(input, output, n);
}
