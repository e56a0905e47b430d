// In chunks of rows through one pinned buffer, which is filled again while the copy before it may still read it.
// expect: uses pinned memory, and host code does not wait for it before it changes that memory for the operation in
#include <algorithm>

#include <cuda_runtime.h>

constexpr int CHUNK = 4096;

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    float *buffer;
    cudaMallocHost(&buffer, CHUNK * sizeof(float));
    for (int first = 0; first < rows; first += CHUNK) {
        int count = std::min(CHUNK, rows - first);
        for (int i = 0; i < count; ++i)
            buffer[i] = h_A[(size_t)(first + i) * cols];
        cudaMemcpyAsync(d_A + first, buffer, count * sizeof(float), cudaMemcpyHostToDevice);
    }
    cudaDeviceSynchronize();
    cudaFreeHost(buffer);
}
