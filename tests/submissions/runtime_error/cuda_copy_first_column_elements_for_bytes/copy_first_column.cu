// cudaMemcpy is given elements in place of bytes.
// expect: within an element
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows, cudaMemcpyHostToDevice);
}
