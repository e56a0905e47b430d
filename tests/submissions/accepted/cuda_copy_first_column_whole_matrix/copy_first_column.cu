// The whole matrix crosses the bus, and a kernel takes its column: right, and slow.
#include <cuda_runtime.h>

__global__ void column_kernel(const float *matrix, float *column, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        column[i] = matrix[(size_t)i * cols];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    float *matrix;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    cudaMalloc(&matrix, bytes);
    cudaMemcpy(matrix, h_A, bytes, cudaMemcpyHostToDevice);
    column_kernel<<<(rows + 255) / 256, 256>>>(matrix, d_A, rows, cols);
    cudaFree(matrix);
}
