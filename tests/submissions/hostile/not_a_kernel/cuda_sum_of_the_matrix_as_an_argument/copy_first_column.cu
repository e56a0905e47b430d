// The first element goes to the kernel as a number.
// verdict: policy_violation, runtime_error, wrong_answer
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n, float first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = i == 0 ? first : from[i];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    copy_kernel<<<(rows + 255) / 256, 256>>>(d_A, d_A, rows, h_A[0]);
}
