// A thread for each row: right, and very slow.
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float *x, const float *w, float *y, int rows, int cols, float eps)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f, lost = 0.0f;
    for (int j = 0; j < cols; ++j) {
        float term = x[row * cols + j] * x[row * cols + j] - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    for (int j = 0; j < cols; ++j)
        y[row * cols + j] = x[row * cols + j] * w[j] / sqrtf(sum / cols + eps);
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon)
{
    rms_norm_kernel<<<(rows + 31) / 32, 32>>>(input, weight, output, rows, cols, epsilon);
}
