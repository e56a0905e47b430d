// Transpose: output[j, i] = input[i, j].
//
// Bytes that must move: 4·rows·cols in and as many out. A block turns a tile through shared memory, so that both its
// loads and its stores are whole lines. Where 4 divides both sizes, tiles are 64×64 and threads move 16 bytes at a
// time. Blocks follow the order in which the output lies in memory.

#include <cuda_runtime.h>

constexpr int TILE = 32;
constexpr int LINES = 8;
constexpr int WIDE = 64;
constexpr int QUADS = WIDE / 4;
constexpr int WIDE_LINES = 16;

// Blocks of TILE×LINES threads, for any sizes.
__global__ void __launch_bounds__(TILE *LINES)
transpose_kernel(const float *__restrict__ input, float *__restrict__ output, int rows, int cols, unsigned row_tiles)
{
    // One column more than needed: threads that read down a column meet different banks.
    __shared__ float tile[TILE][TILE + 1];
    const int row_tile = blockIdx.x % row_tiles * TILE, column_tile = blockIdx.x / row_tiles * TILE;
    const int column = column_tile + threadIdx.x;
#pragma unroll
    for (int line = threadIdx.y; line < TILE; line += LINES)
        if (row_tile + line < rows && column < cols)
            tile[line][threadIdx.x] = __ldcs(input + size_t(row_tile + line) * cols + column);
    __syncthreads();
    const int row = row_tile + threadIdx.x;
#pragma unroll
    for (int line = threadIdx.y; line < TILE; line += LINES)
        if (column_tile + line < cols && row < rows)
            __stcs(output + size_t(column_tile + line) * rows + row, tile[threadIdx.x][line]);
}

// Blocks of QUADS×WIDE_LINES threads, for sizes that 4 divides.
__global__ void __launch_bounds__(QUADS *WIDE_LINES)
transpose_wide_kernel(const float *__restrict__ input, float *__restrict__ output, int rows, int cols,
                      unsigned row_tiles)
{
    __shared__ float tile[WIDE][WIDE + 1];
    const int row_tile = blockIdx.x % row_tiles * WIDE, column_tile = blockIdx.x / row_tiles * WIDE;
    const int quad = 4 * threadIdx.x;
    float4 held[WIDE / WIDE_LINES];
#pragma unroll
    for (int k = 0; k < WIDE / WIDE_LINES; ++k) {
        const int row = row_tile + threadIdx.y + k * WIDE_LINES;
        if (row < rows && column_tile + quad < cols)
            held[k] = __ldcs(reinterpret_cast<const float4 *>(input + size_t(row) * cols + column_tile + quad));
    }
#pragma unroll
    for (int k = 0; k < WIDE / WIDE_LINES; ++k) {
        const int line = threadIdx.y + k * WIDE_LINES;
        if (row_tile + line < rows && column_tile + quad < cols) {
            tile[quad][line] = held[k].x;
            tile[quad + 1][line] = held[k].y;
            tile[quad + 2][line] = held[k].z;
            tile[quad + 3][line] = held[k].w;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < WIDE / WIDE_LINES; ++k) {
        const int line = threadIdx.y + k * WIDE_LINES;
        if (column_tile + line < cols && row_tile + quad < rows)
            __stcs(reinterpret_cast<float4 *>(output + size_t(column_tile + line) * rows + row_tile + quad),
                   make_float4(tile[line][quad], tile[line][quad + 1], tile[line][quad + 2], tile[line][quad + 3]));
    }
}

void transpose(const float *input, float *output, int rows, int cols)
{
    const bool wide = rows % 4 == 0 && cols % 4 == 0;
    const int side = wide ? WIDE : TILE;
    const unsigned row_tiles = (rows - 1) / side + 1, column_tiles = (cols - 1) / side + 1;
    // One axis, since the others end at 65,535 blocks.
    if (wide)
        transpose_wide_kernel<<<row_tiles * column_tiles, dim3(QUADS, WIDE_LINES)>>>(
            input, output, rows, cols, row_tiles);
    else
        transpose_kernel<<<row_tiles * column_tiles, dim3(TILE, LINES)>>>(input, output, rows, cols, row_tiles);
}
