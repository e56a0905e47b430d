// The first elements in memory are copied: the first row.
// expect: the first row: row i begins
// never: tl.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    cudaMemcpy(d_A, h_A, sizeof(float) * (rows < rows * cols ? rows : rows * cols), cudaMemcpyHostToDevice);
}
