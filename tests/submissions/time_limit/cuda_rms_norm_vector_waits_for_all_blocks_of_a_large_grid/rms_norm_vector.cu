// A barrier of the whole grid by hand: a GPU holds the blocks of small vectors, and not those of large ones.
// expect: blocks wait for each other
// expect: a GPU holds at most
// alone on a gpu: its kernel does not end there
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void rms_norm_kernel(
    const float *x, const float *w, float *y, float *total, unsigned *arrived, int n, float epsilon)
{
    __shared__ float squares[THREADS];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    squares[threadIdx.x] = value * value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            squares[threadIdx.x] += squares[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, squares[0]);
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {
        }
    }
    __syncthreads();
    const float scale = rsqrtf(__ldcg(total) / n + epsilon);
    if (i < n)
        y[i] = value * scale * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    float *total;
    cudaMalloc(&total, 2 * sizeof(float));
    cudaMemset(total, 0, 2 * sizeof(float));
    rms_norm_kernel<<<(cols + THREADS - 1) / THREADS, THREADS>>>(
        input, weight, output, total, (unsigned *)(total + 1), cols, epsilon);
}
