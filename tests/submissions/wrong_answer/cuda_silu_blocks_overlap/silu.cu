// A block takes four times as many elements as it has threads, and the next one begins as many threads further on.
// expect: goes over 512 elements of out in 4 rounds
// expect: begins 128 further on
// never: Work out its number
#include <cuda_runtime.h>

const int T = 128, EACH = 4;

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int begin = blockIdx.x * T + threadIdx.x;
    for (int k = 0; k < EACH; k++) {
        int i = begin + k * T;
        if (i < n)
            y[i] = x[i] / (1.f + expf(-x[i]));
    }
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + T * EACH - 1) / (T * EACH), T>>>(input, output, n);
}
