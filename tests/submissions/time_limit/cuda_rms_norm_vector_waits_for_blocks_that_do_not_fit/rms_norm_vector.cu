// Each block waits for all others, of which a multiprocessor holds three by their threads, and two by their registers.
// expect: blocks wait for each other
// expect: a GPU holds at most
#include <cuda_runtime.h>

constexpr int BLOCKS = 396;
constexpr int THREADS = 256;
constexpr int KEPT = 96;

__global__ void rms_norm_kernel(
    const float *x, const float *w, float *y, double *total, volatile int *arrived, int n, float epsilon)
{
    const int first = blockIdx.x * THREADS + threadIdx.x;
    float kept[KEPT], sum = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        kept[i] = w[(first + i) % n];
    for (int i = first; i < n; i += BLOCKS * THREADS)
        sum += x[i] * x[i];
    if (sum != 0.0f)
        atomicAdd(total, (double)sum);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((int *)arrived, 1);
        while (*arrived < gridDim.x) {
        }
    }
    __syncthreads();
    float scale = rsqrtf((float)__ldcg(total) / n + epsilon), most = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        most = fmaxf(most, fabsf(kept[i] - scale));
    scale = most > 1e30f ? 0.0f : scale;
    for (int i = first; i < n; i += BLOCKS * THREADS)
        y[i] = x[i] * scale * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)
{
    double *total;
    cudaMalloc(&total, 2 * sizeof(double));
    cudaMemset(total, 0, 2 * sizeof(double));
    rms_norm_kernel<<<BLOCKS, THREADS>>>(input, weight, output, total, (int *)(total + 1), cols, epsilon);
    cudaFree(total);
}
