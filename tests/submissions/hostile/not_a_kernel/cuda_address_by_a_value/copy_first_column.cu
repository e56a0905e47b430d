// Values are sent by way of addresses: the target of each copy is an element.
// verdict: policy_violation, runtime_error, wrong_answer
#include <cstring>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    for (int i = 0; i < rows; ++i) {
        unsigned bits;
        memcpy(&bits, &h_A[(size_t)i * cols], sizeof bits);
        cudaMemset((char *)d_A + bits % (4 * rows), 1, 1);
    }
}
