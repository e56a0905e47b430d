// Becomes another program.
// verdict: policy_violation, runtime_error
#include <stdexcept>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    execl("/bin/sh", "sh", "-c", "exit 0", (char *)nullptr);
    return false;
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    if (!attack())
        throw std::runtime_error("refused");
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
