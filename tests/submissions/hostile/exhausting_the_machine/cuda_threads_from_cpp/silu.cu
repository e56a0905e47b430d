// Starts threads until none is left, each of which spins.
// verdict: time_limit, runtime_error
#include <thread>

#include <cuda_runtime.h>

void silu(float *input, float *output, int n)
{
    for (;;)
        std::thread([] {
            for (volatile int i = 0;; i = i + 1)
                ;
        }).detach();
}
