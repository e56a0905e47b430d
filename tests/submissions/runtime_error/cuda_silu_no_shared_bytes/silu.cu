// Dynamic shared memory is used, and the launch asks for none.
// expect: in line 12
// expect: The launch gives no bytes for it
// expect: past the end of the shared memory
// never: tl.
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    extern __shared__ float room[];
    room[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float v = room[threadIdx.x];
    if (i < n)
        y[i] = v / (1.0f + expf(-v));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    silu_kernel<<<blocks, threads>>>(input, output, n);
}
