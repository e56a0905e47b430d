// A thread launches the kernel after the function has returned.
// verdict: wrong_answer, runtime_error
#include <chrono>
#include <thread>

#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
    }).detach();
}
