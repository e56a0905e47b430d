// Gathered from the last row to the first.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = rows - 1; i >= 0; --i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
