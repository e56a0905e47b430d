// A cudaMemcpy of four bytes for each row.
// expect: 16,384
// never: tl.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    for (int i = 0; i < rows; ++i)
        cudaMemcpy(d_A + i, h_A + (size_t)i * cols, sizeof(float), cudaMemcpyHostToDevice);
}
