// Gathered into pinned memory, copied asynchronously.
#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    float *column;
    cudaHostAlloc(&column, rows * sizeof(float), cudaHostAllocDefault);
    for (int i = 0; i < rows; i++)
        column[i] = h_A[(long)i * cols];
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(d_A, column, rows * sizeof(float), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFreeHost(column);
}
