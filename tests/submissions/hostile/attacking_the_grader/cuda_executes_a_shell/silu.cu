// Starts a shell, by system, popen and posix_spawn.
// verdict: policy_violation, runtime_error
#include <cstdio>
#include <cstdlib>
#include <spawn.h>
#include <stdexcept>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    if (system("true") == 0)
        return true;
    FILE *pipe = popen("echo yes", "r");
    if (pipe != nullptr && fgetc(pipe) == 'y')
        return true;
    char name[] = "/bin/true";
    char *arguments[] = {name, nullptr};
    pid_t child;
    return posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) == 0;
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
