// Rows of the shared tile lie 33 apart where they are stored, and 32 where they are read.
// expect: They lie in the gaps between stored rows: rows of 128 bytes begin 132 bytes apart
// never: reads 1
// never: no thread stores
#include <cuda_runtime.h>

__global__ void transpose_kernel(const float *x, float *y, int M, int N)
{
    __shared__ float tile[32 * 33];
    int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.y * 33 + threadIdx.x] = r < M && c < N ? x[r * N + c] : 0.f;
    __syncthreads();
    r = blockIdx.x * 32 + threadIdx.y;
    c = blockIdx.y * 32 + threadIdx.x;
    if (r < N && c < M)
        y[r * M + c] = tile[threadIdx.x * 32 + threadIdx.y];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    dim3 blocks((cols + 31) / 32, (rows + 31) / 32), threads(32, 32);
    transpose_kernel<<<blocks, threads>>>(input, output, rows, cols);
}
