#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    cudaMemcpy2D(d_A, sizeof(float), h_A, cols * sizeof(float), sizeof(float), rows, cudaMemcpyHostToDevice);
}
