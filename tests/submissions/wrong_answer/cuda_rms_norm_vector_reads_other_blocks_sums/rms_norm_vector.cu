// One plain launch: each block stores its sum and, behind __syncthreads(), adds those of all blocks.
// expect: the next launch
// expect: in a different order they give a different answer
#include <cuda_runtime.h>

__global__ void rms_norm(const float *x, const float *w, float *part, float *y, int n, float epsilon)
{
    __shared__ float tree[256];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        own = fmaf(x[i], x[i], own);
    tree[t] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            tree[t] += tree[t + half];
    }
    if (t == 0)
        part[blockIdx.x] = tree[0];
    __syncthreads();
    float all = 0.0f;
    for (int block = 0; block < gridDim.x; block++)
        all += part[block];
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        y[i] = x[i] / sqrtf(all / n + epsilon) * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *part;
    cudaMalloc(&part, 4 * sizeof(float));
    rms_norm<<<4, 256>>>(input, weight, part, output, cols, epsilon);
    cudaFree(part);
}
