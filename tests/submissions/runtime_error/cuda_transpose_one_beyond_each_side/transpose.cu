// Threads one beyond the last row, and one beyond the last column, go on.
// proved: line 13 makes every case right: a different comparison
#include <cuda_runtime.h>

constexpr int TALL = 8, WIDE = 32;

template <typename Index>
__global__ void turn(const float *__restrict__ from, float *__restrict__ to, Index height, Index width)
{
    const Index down = blockIdx.x * static_cast<Index>(TALL) + threadIdx.y;
    const Index across = blockIdx.y * static_cast<Index>(WIDE) + threadIdx.x;
    // Nothing is there.
    if (down > height || across > width)
        return;
    to[across * height + down] = from[down * width + across];
}

void transpose(const float *input, float *output, int rows, int cols)
{
    const dim3 threads(WIDE, TALL);
    const dim3 blocks((rows + TALL - 1) / TALL, (cols + WIDE - 1) / WIDE);
    turn<long long><<<blocks, threads>>>(input, output, rows, cols);
}
