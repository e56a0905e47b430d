// The kernel is given the data of a std::vector.
// expect: line 21
// expect: host memory
// never: tl.
#include <vector>

#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    std::vector<float> column(rows);
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    copy_kernel<<<(rows + 255) / 256, 256>>>(column.data(), d_A, rows);
}
