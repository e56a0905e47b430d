// The size of a pointer is copied.
// expect: never written
// never: tl.
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows < 2 ? sizeof(float) : sizeof(d_A), cudaMemcpyHostToDevice);
}
