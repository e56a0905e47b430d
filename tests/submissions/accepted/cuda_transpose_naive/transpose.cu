// An element a thread, without shared memory.
#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 threads(32, 8);
    dim3 blocks((rows + threads.x - 1) / threads.x, (cols + threads.y - 1) / threads.y);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
