// The loop ends one row too early.
// expect: 1 of 5 elements is wrong
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows - 1; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
