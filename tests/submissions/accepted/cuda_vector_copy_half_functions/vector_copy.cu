// Functions of cuda_fp16.h, whose assembly declares registers as `.reg.b32`: their sum is never what decides.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float sum_of_functions(half x)
{
    half2 both = __halves2half2(x, __hneg(x));
    half2 sum = __hadd2(h2exp(both), h2exp2(both));
    sum = __hadd2(sum, __hadd2(h2rcp(both), h2cos(both)));
    half alone = __hadd(hlog(x), __hadd(hlog2(x), hlog10(x)));
    alone = __hadd(alone, __hadd(hsqrt(x), __hadd(hrsqrt(x), hsin(x))));
    alone = __hadd(alone, __hadd(hexp10(x), htanh(x)));
    return __half2float(__hadd(alone, __hadd(__low2half(sum), __high2half(sum))));
}

__global__ void vector_copy_kernel(const float *input, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        output[i] = sum_of_functions(__float2half(input[i])) == 1.2345678f ? 0.0f : input[i];
}

void vector_copy(float *input, float *output, int n)
{
    vector_copy_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
