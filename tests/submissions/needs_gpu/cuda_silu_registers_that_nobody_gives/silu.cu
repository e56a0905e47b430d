// Each warpgroup waits for registers that another one would have to give back.
// expect: where no warpgroup gives registers back
// on a gpu: time_limit, runtime_error, accepted; whether it waits depends on the registers of the launch
// alone on a gpu: its kernel may not end there
#include <cuda_runtime.h>

__global__ void __launch_bounds__(512, 1) silu_kernel(const float *input, float *output, int n)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        output[i] = input[i] / (1.0f + expf(-input[i]));
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n + 511) / 512, 512>>>(input, output, n);
}
