// Kira.
#include <algorithm>

#include <cuda_runtime.h>

constexpr int CHUNK = 4096;

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    static float *buffers[2] = {};
    static cudaEvent_t done[2];
    for (int b = 0; b < 2; ++b)
        if (buffers[b] == nullptr) {
            cudaMallocHost(&buffers[b], CHUNK * sizeof(float));
            cudaEventCreate(&done[b]);
        }
    for (int first = 0, b = 0; first < rows; first += CHUNK, b ^= 1) {
        int count = std::min(CHUNK, rows - first);
        cudaEventSynchronize(done[b]);
        for (int i = 0; i < count; ++i)
            buffers[b][i] = h_A[(size_t)(first + i) * cols];
        cudaMemcpyAsync(d_A + first, buffers[b], count * sizeof(float), cudaMemcpyHostToDevice);
        cudaEventRecord(done[b]);
    }
    cudaDeviceSynchronize();
}
