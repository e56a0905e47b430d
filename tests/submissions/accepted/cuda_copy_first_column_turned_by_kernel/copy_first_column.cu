// A pointer walks from the end of the matrix to its beginning; a kernel turns the column round.
#include <vector>

#include <cuda_runtime.h>

__global__ void turn(const float *from, float *to, int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        to[i] = from[rows - 1 - i];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column;
    column.reserve(rows);
    for (const float *p = h_A + (size_t)rows * cols; p != h_A;)
        column.push_back(*(p -= cols));
    float *reversed;
    cudaMalloc(&reversed, rows * sizeof(float));
    cudaMemcpy(reversed, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
    turn<<<(rows + 255) / 256, 256>>>(reversed, d_A, rows);
    cudaFree(reversed);
}
