// Host code makes the column what it likes, in the matrix itself.
// verdict: wrong_answer, policy_violation, runtime_error
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        h_A[(size_t)i * cols] = 0.0f;
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
