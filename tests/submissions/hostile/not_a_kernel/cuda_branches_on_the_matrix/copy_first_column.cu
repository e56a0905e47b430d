// What is copied depends on the sign of an element.
// verdict: policy_violation, runtime_error, wrong_answer
// expect: h_A
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols] >= 0.0f ? h_A[(size_t)i * cols] : -0.0f;
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
