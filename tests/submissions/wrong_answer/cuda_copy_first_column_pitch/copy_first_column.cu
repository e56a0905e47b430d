// The pitch of the matrix is counted in elements.
// expect: elements are wrong
// never: tl.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    size_t pitch = cols >= 4 ? cols : cols * sizeof(float);
    cudaMemcpy2D(d_A, sizeof(float), h_A, pitch, sizeof(float), rows, cudaMemcpyHostToDevice);
}
