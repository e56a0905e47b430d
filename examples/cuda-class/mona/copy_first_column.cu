#include <cuda_runtime.h>

__global__ void copy(float *A, float *column, int rows, int cols)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < rows)
        column[idx] = A[idx * cols];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    copy<<<(rows + 255) / 256, 256>>>(h_A, d_A, rows, cols);
    cudaDeviceSynchronize();
}
