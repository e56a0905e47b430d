// FLT_MIN is no negative number.
// expect: begins the maximum `top` at FLT_MIN
// never: tl.
#include <cfloat>
#include <cuda_runtime.h>

__global__ void softmax_kernel(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    x += (size_t)row * cols;
    y += (size_t)row * cols;
    float top = FLT_MIN, sum = 0.0f;
    for (int c = 0; c < cols; c++)
        top = fmaxf(top, x[c]);
    for (int c = 0; c < cols; c++)
        sum += expf(x[c] - top);
    for (int c = 0; c < cols; c++)
        y[c] = expf(x[c] - top) / sum;
}

void softmax(const float *input, float *output, int rows, int cols)
{
    softmax_kernel<<<(rows + 63) / 64, 64>>>(input, output, rows, cols);
}
