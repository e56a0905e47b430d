// Bits of the matrix are taken apart, as if they told where they lie, and put together again.
// verdict: policy_violation, runtime_error, wrong_answer
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        unsigned bits;
        memcpy(&bits, &h_A[(size_t)i * cols], sizeof bits);
        unsigned first = bits >> 16, second = bits & 0xffff, together = first << 16 | second;
        together = together ^ 0x5a5a5a5au;
        memcpy(&column[i], &together, sizeof together);
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
