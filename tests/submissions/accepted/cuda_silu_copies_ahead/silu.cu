// Each block copies its next tile to shared memory while it computes one.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define TILE 256
#define TILES 3

__device__ void fetch(float *to, const float *input, size_t i, int n)
{
    if (i < n)
        __pipeline_memcpy_async(to, input + i, sizeof(float));
}

__global__ void silu_kernel(const float *input, float *output, int n)
{
    __shared__ float tiles[2][TILE];
    const size_t first = (size_t)blockIdx.x * TILE * TILES;
    fetch(&tiles[0][threadIdx.x], input, first + threadIdx.x, n);
    __pipeline_commit();
    for (int tile = 0; tile < TILES; tile++) {
        if (tile + 1 < TILES)
            fetch(&tiles[(tile + 1) % 2][threadIdx.x], input, first + (tile + 1) * TILE + threadIdx.x, n);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        // Another thread's element, so that threads have to wait for each other.
        const int other = TILE - 1 - threadIdx.x;
        const size_t i = first + tile * TILE + other;
        if (i < n) {
            const float x = tiles[tile % 2][other];
            output[i] = x / (1.0f + expf(-x));
        }
        __syncthreads();
    }
}

void silu(float *input, float *output, int n)
{
    silu_kernel<<<(n - 1) / (TILE * TILES) + 1, TILE>>>(input, output, n);
}
