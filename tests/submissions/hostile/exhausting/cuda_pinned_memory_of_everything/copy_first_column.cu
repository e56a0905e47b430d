// Pinned memory of a tebibyte.
// verdict: memory_limit, runtime_error, wrong_answer, time_limit
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    float *column = nullptr;
    cudaMallocHost(&column, 1ull << 40);
    for (size_t i = 0; i < 1ull << 38; i += 1024)
        column[i] = 1.0f;
}
