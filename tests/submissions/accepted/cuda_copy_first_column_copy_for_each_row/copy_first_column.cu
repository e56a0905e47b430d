// A cudaMemcpy of four bytes for each row: right, and as slow as can be.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    for (int i = 0; i < rows; ++i)
        cudaMemcpy(d_A + i, h_A + (size_t)i * cols, sizeof(float), cudaMemcpyHostToDevice);
}
