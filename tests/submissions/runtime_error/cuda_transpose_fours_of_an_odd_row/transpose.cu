// Four elements of a row at a time wherever 4 divides their number, also where it does not divide a row.
// expect: moves 16 bytes at once
// expect: needs an address that is a multiple of 16
// never: grid
#include <cuda_runtime.h>

__global__ void by_fours(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x, col = 4 * (blockIdx.y * blockDim.x + threadIdx.x);
    if (col >= cols)
        return;
    float4 four = *reinterpret_cast<const float4 *>(in + (size_t)row * cols + col);
    float each[4] = {four.x, four.y, four.z, four.w};
    for (int k = 0; k < 4 && col + k < cols; ++k)
        out[(size_t)(col + k) * rows + row] = each[k];
}

__global__ void one_by_one(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x, col = blockIdx.y * blockDim.x + threadIdx.x;
    if (col < cols)
        out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    if ((long long)rows * cols % 4 == 0)
        by_fours<<<dim3(rows, (cols + 511) / 512), 128>>>(input, output, rows, cols);
    else
        one_by_one<<<dim3(rows, (cols + 127) / 128), 128>>>(input, output, rows, cols);
}
