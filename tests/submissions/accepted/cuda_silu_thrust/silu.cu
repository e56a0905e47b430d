// By Thrust, whose kernels it launches.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

struct Silu {
    __host__ __device__ float operator()(float x) const { return x / (1.0f + expf(-x)); }
};

void silu(float *input, float *output, int n)
{
    thrust::device_ptr<float> x(input), y(output);
    thrust::transform(thrust::device, x, x + n, y, Silu());
}
