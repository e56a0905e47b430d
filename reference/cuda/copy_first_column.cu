// The first column of a matrix in host memory, brought to the device: d_A[i] = h_A[i, 0].
//
// 4·rows bytes must cross the bus, and they lie 4·cols bytes apart: the host gathers them side by side, and one copy
// moves them. The buffer is pinned, so that the device's copy engine reads it directly, and kept, since pinning takes
// longer than the copy.

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    static float *column = nullptr;
    static int room = 0;
    if (rows > room) {
        cudaFreeHost(column);
        cudaMallocHost(&column, rows * sizeof(float));
        room = rows;
    }
    for (int row = 0; row < rows; ++row)
        column[row] = h_A[size_t(row) * cols];
    cudaMemcpyAsync(d_A, column, rows * sizeof(float), cudaMemcpyHostToDevice);
    // The next call writes into the same buffer.
    cudaStreamSynchronize(nullptr);
}
