// An element a thread, without shared memory.
#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *in, float *out, int rows, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows)
        out[x * rows + y] = in[y * cols + x];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 threads(32, 8);
    dim3 blocks((cols + threads.x - 1) / threads.x, (rows + threads.y - 1) / threads.y);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
