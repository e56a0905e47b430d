// Each thread has a maximum and a sum of its own elements, and the sums are added as they are.
// expect: Each thread's sum belongs to the maximum of its own elements
// never: lane
#include <cuda_runtime.h>

#define THREADS 128

__global__ void rows(const float *x, float *y, int n)
{
    __shared__ float tops[THREADS], sums[THREADS];
    const int t = threadIdx.x;
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float top = -3e38f, sum = 0.f;
    for (int i = t; i < n; i += THREADS) {
        const float larger = fmaxf(top, x[i]);
        sum = sum * expf(top - larger) + expf(x[i] - larger);
        top = larger;
    }
    tops[t] = top;
    sums[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            tops[t] = fmaxf(tops[t], tops[t + half]);
            sums[t] += sums[t + half];
        }
        __syncthreads();
    }
    for (int i = t; i < n; i += THREADS)
        y[i] = expf(x[i] - tops[0]) / sums[0];
}

void softmax(const float *input, float *output, int rows_, int cols)
{
    rows<<<rows_, THREADS>>>(input, output, cols);
}
