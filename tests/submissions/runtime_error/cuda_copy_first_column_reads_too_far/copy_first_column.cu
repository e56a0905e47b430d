// The loop that gathers takes a step too many in each row.
// expect: reads past the end of `h_A`
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * (cols + 1)];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
