// Thrust gives the sum to the host.
// expect: host
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform_reduce.h>

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

__global__ void scale_kernel(const float *x, const float *weight, float *y, int n, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * weight[i] * scale;
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float sum = thrust::transform_reduce(thrust::device, input, input + cols, Square(), 0.0f, thrust::plus<float>());
    scale_kernel<<<(cols + 255) / 256, 256>>>(input, weight, output, cols, 1.0f / sqrtf(sum / cols + epsilon));
}
