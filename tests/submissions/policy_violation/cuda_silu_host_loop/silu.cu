// A loop on the host over device memory, as if it were the host's.
// expect: Line 10
// expect: input
// expect: a kernel takes the pointer
#include <cmath>

void silu(float *input, float *output, int n)
{
    for (int i = 0; i < n; ++i)
        output[i] = input[i] / (1.0f + std::exp(-input[i]));
}
