// Copy of a vector: output[i] = input[i].
//
// Bytes that must move: 4·n in and 4·n out. Each thread moves four times 16 bytes, all loads before the first store, so
// that enough of them are under way; neither side is needed again, so neither should push anything out of the cache.

#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int QUADS = 4;

__global__ void __launch_bounds__(THREADS)
vector_copy_kernel(const float *__restrict__ input, float *__restrict__ output, int n)
{
    const int quads = n / 4;
    const size_t first = size_t(blockIdx.x) * (THREADS * QUADS) + threadIdx.x;
    const float4 *in = reinterpret_cast<const float4 *>(input);
    float4 *out = reinterpret_cast<float4 *>(output);
    float4 held[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * THREADS < quads)
            held[k] = __ldcs(in + first + k * THREADS);
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * THREADS < quads)
            __stcs(out + first + k * THREADS, held[k]);
    // Up to three elements are no whole quad.
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        output[4 * quads + threadIdx.x] = input[4 * quads + threadIdx.x];
}

void vector_copy(const float *input, float *output, int n)
{
    // cudaMalloc aligns to 256 bytes, so that float4 may be read.
    const int quads = n / 4, per_block = THREADS * QUADS;
    const int blocks = quads / per_block + 1;
    vector_copy_kernel<<<blocks, THREADS>>>(input, output, n);
}
