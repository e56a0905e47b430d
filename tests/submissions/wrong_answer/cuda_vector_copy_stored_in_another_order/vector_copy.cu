// A thread loads neighbours and stores them a block's width apart.
// expect: that of another element
// expect: Is an index made in one way where it is computed, and in another where it is stored?
#include <cuda_runtime.h>

constexpr int WIDE = 64, EACH = 2;

__global__ void copy(const float *from, float *to, int n)
{
    const int first = blockIdx.x * WIDE * EACH;
    float held[EACH];
    for (int k = 0; k < EACH; k++) {
        const int i = first + EACH * threadIdx.x + k;
        held[k] = i < n ? from[i] : 0.0f;
    }
    for (int k = 0; k < EACH; k++) {
        const int i = first + WIDE * k + threadIdx.x;
        if (i < n)
            to[i] = held[k];
    }
}

void vector_copy(const float *input, float *output, int n)
{
    copy<<<(n + WIDE * EACH - 1) / (WIDE * EACH), WIDE>>>(input, output, n);
}
