// Reads the memory of the process that started it.
// verdict: runtime_error
// expect: refused
#include <stdexcept>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    char byte;
    iovec own = {&byte, 1}, other = {(void *)&attack, 1};
    return process_vm_readv(getppid(), &own, 1, &other, 1, 0) == 1 || process_vm_readv(1, &own, 1, &other, 1, 0) == 1;
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
