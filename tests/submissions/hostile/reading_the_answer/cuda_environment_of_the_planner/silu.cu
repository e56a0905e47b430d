// Looks for seeds and tokens in its environment, and in what the program began with.
// verdict: runtime_error
// expect: refused
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    std::string found;
    for (char **one = environ; one != nullptr && *one != nullptr; ++one)
        found += std::string(*one) + "\n";
    std::ifstream file("/proc/self/environ");
    found.append(std::istreambuf_iterator<char>(file), {});
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
