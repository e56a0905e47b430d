// Opens files of root's, of the grader and of other processes; it reads none of what they hold.
// verdict: runtime_error
// expect: refused
#include <fstream>
#include <stdexcept>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    for (const char *name : {"/etc/shadow", "/root/.bash_history", "/root/.ssh/id_rsa", "/proc/1/environ", "/proc/1/mem",
                             "assignments/silu/assignment.py", "reference/cuda/silu.cu", "../reference/silu.py"})
        if (std::ifstream(name).good())
            return true;
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
