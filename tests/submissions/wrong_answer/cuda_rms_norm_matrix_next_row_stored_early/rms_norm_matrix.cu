// The last thread stores the next row while others have not read this one: all have read it before, the last one last.
// expect: __syncthreads()
// expect: next
// never: tl.
#include <cuda_runtime.h>

constexpr int THREADS = 256, MOST_BLOCKS = 64;

__global__ void rms_norm_kernel(const float *input, const float *weight, float *output, int rows, int cols, float epsilon)
{
    __shared__ float sums[THREADS];
    __shared__ int next;
    if (threadIdx.x == THREADS - 1)
        next = blockIdx.x;
    __syncthreads();
    while (true) {
        int row = next;
        if (row >= rows)
            break;
        if (threadIdx.x == THREADS - 1)
            next = row + gridDim.x;
        const float *x = input + (size_t)row * cols;
        float sum = 0.0f;
        for (int j = threadIdx.x; j < cols; j += THREADS)
            sum += x[j] * x[j];
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        float rms = sqrtf(sums[0] / cols + epsilon);
        for (int j = threadIdx.x; j < cols; j += THREADS)
            output[(size_t)row * cols + j] = x[j] / rms * weight[j];
        __syncthreads();
    }
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    int blocks = rows < MOST_BLOCKS ? rows : MOST_BLOCKS;
    rms_norm_kernel<<<blocks, THREADS>>>(input, weight, output, rows, cols, epsilon);
}
