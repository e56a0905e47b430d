// The maximum begins at 0.
// expect: maximum not below 0
// never: tl.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void softmax_kernel(const float *input, float *output, int cols)
{
    __shared__ float room[THREADS];
    const float *x = input + (size_t)blockIdx.x * cols;
    float *y = output + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;

    float top = 0.0f;
    for (int j = t; j < cols; j += THREADS)
        top = fmaxf(top, x[j]);
    room[t] = top;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            room[t] = fmaxf(room[t], room[t + half]);
        __syncthreads();
    }
    top = room[0];
    __syncthreads();

    float sum = 0.0f;
    for (int j = t; j < cols; j += THREADS)
        sum += expf(x[j] - top);
    room[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            room[t] += room[t + half];
        __syncthreads();
    }
    sum = room[0];

    for (int j = t; j < cols; j += THREADS)
        y[j] = expf(x[j] - top) / sum;
}

void softmax(const float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<rows, THREADS>>>(input, output, cols);
}
