// Each product is rounded to half, and added in float.
// expect: Sums, or the products in them, were kept in fp16
// expect: multiply floats
#include <cuda_fp16.h>

__global__ void one_each(const half *left, const half *right, half *to, int m, int n, int k)
{
    const long long number = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (number >= static_cast<long long>(m) * n)
        return;
    const half *row = left + number / n * k;
    const half *column = right + number % n;
    float total = 0.0f;
    for (int at = 0; at < k; ++at)
        total += static_cast<float>(__hmul(row[at], column[static_cast<long long>(at) * n]));
    to[number] = __float2half_rn(total);
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    const long long count = static_cast<long long>(M) * N;
    one_each<<<static_cast<unsigned>((count + 127) / 128), 128>>>(A, B, C, M, N, K);
}
