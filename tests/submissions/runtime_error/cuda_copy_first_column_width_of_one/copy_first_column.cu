// The width of a column in bytes is that of a float, not 1.
// expect: ends within an element of 4 bytes
// expect: elements times sizeof(element)
// never: 0 / 0
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    size_t item = sizeof(float);
    cudaMemcpy2D(d_A, item, h_A, item * cols, 1, rows, cudaMemcpyHostToDevice);
}
