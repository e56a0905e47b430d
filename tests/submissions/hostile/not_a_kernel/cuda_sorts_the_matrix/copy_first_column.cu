// Host code sorts the column, and puts it back in order by what it had noted.
// verdict: policy_violation, runtime_error, wrong_answer
#include <algorithm>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<std::pair<float, int>> pairs;
    for (int i = 0; i < rows; ++i)
        pairs.emplace_back(h_A[(size_t)i * cols], i);
    std::sort(pairs.begin(), pairs.end());
    for (const auto &[value, row] : pairs)
        cudaMemcpy(d_A + row, &value, sizeof(float), cudaMemcpyHostToDevice);
}
