// Attaches to the process that started it, and asks to be traced.
// verdict: runtime_error
// expect: refused
#include <stdexcept>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) {
        ptrace(PTRACE_DETACH, getppid(), 0, 0);
        return true;
    }
    return ptrace(PTRACE_TRACEME, 0, 0, 0) == 0;
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
