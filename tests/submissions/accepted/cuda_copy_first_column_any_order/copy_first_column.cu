// Rows are read in an order drawn by chance.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<int> order(rows);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    std::vector<float> column(rows);
    for (int i : order)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
