// Copy of a vector: output[i] = input[i].
//
// Bytes that must move: 4·n in and 4·n out. Each thread moves 16 bytes, once: a multiprocessor has 2,048 threads at a
// time, so enough loads are under way, and blocks that end early make room for others.

#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS)
vector_copy_kernel(const float *__restrict__ input, float *__restrict__ output, int n)
{
    const int quads = n / 4, quad = blockIdx.x * THREADS + threadIdx.x;
    if (quad < quads)
        reinterpret_cast<float4 *>(output)[quad] = reinterpret_cast<const float4 *>(input)[quad];
    // Up to three elements are no whole quad.
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        output[4 * quads + threadIdx.x] = input[4 * quads + threadIdx.x];
}

void vector_copy(const float *input, float *output, int n)
{
    // cudaMalloc aligns to 256 bytes, so that float4 may be read.
    vector_copy_kernel<<<n / 4 / THREADS + 1, THREADS>>>(input, output, n);
}
