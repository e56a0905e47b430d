// Host code stores into device memory.
// expect: Line 9
// expect: d_A
#include <cstddef>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    for (int i = 0; i < rows; ++i)
        d_A[i] = h_A[(size_t)i * cols];
}
