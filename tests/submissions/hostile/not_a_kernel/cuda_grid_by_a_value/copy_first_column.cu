// The number of blocks is an element of the matrix.
// verdict: policy_violation, runtime_error, wrong_answer
#include <cuda_runtime.h>

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    int blocks = 1 + (int)(h_A[0] * h_A[0]) % 1000;
    copy_kernel<<<blocks, 256>>>(d_A, d_A, rows);
}
