// Forks without end.
// verdict: time_limit, runtime_error, policy_violation
#include <unistd.h>

#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    for (;;)
        fork();
}
