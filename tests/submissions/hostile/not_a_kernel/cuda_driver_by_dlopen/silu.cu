// The GPU's driver and runtime, opened by name.
// verdict: policy_violation, runtime_error
#include <dlfcn.h>
#include <stdexcept>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    for (const char *name : {"libcuda.so.1", "libcuda.so", "libcudart.so.13", "libcublas.so.13", "libnvrtc.so.13"})
        if (dlopen(name, RTLD_NOW) != nullptr)
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
