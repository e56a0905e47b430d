// A loop on the host over device memory, as if it were the host's.
// expect: line 10
// expect: host
// expect: input
#include <cmath>

void silu(float *input, float *output, int n)
{
    for (int i = 0; i < n; ++i)
        output[i] = input[i] / (1.0f + std::exp(-input[i]));
}
