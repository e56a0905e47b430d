// The whole matrix is copied to where its column should go.
// expect: in line 9
// expect: bytes after the end of d_A
// never: tl.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    cudaMemcpy(d_A, h_A, sizeof(float) * rows * cols, cudaMemcpyHostToDevice);
}
