// Source and target of the copy are exchanged.
// expect: `d_A` lies in GPU memory already
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(column.data(), d_A, rows * sizeof(float), cudaMemcpyHostToDevice);
}
