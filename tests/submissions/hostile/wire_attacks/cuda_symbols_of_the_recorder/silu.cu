// Functions and data of the recorder, by the names that they might have.
// verdict: runtime_error
// expect: refused
#include <dlfcn.h>
#include <stdexcept>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    for (const char *name : {"rec_open", "rec_start", "rec_end", "rec_given", "buffers", "seed", "tokens"})
        if (dlsym(RTLD_DEFAULT, name) != nullptr)
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
