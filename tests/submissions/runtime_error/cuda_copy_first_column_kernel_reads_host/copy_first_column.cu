// The kernel is given the matrix in host memory.
// expect: line 16
// expect: host memory
// never: tl.
#include <cuda_runtime.h>

__global__ void column_kernel(const float *matrix, float *column, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        column[i] = matrix[(size_t)i * cols];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    column_kernel<<<(rows + 255) / 256, 256>>>(h_A, d_A, rows, cols);
}
