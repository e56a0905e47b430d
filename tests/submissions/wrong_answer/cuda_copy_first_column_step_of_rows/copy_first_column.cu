// The step from row to row is the number of rows.
// expect: number of rows: it is the number of columns
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * (rows < cols ? rows : cols)];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
