// A warp for each element of C, in a loop over elements.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const __half *__restrict__ a, const __half *__restrict__ b, __half *c, int M, int N, int K)
{
    const int lane = threadIdx.x % 32;
    const long long warps = (long long)gridDim.x * (blockDim.x / 32);
    for (long long e = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; e < (long long)M * N; e += warps) {
        const int i = e / N, j = e % N;
        float2 s = make_float2(0.f, 0.f);
        for (int k = 2 * lane; k < K; k += 64) {
            __half2 x = __halves2half2(a[(size_t)i * K + k], k + 1 < K ? a[(size_t)i * K + k + 1] : __half(0.f));
            float2 f = __half22float2(x);
            s.x = fmaf(f.x, __half2float(b[(size_t)k * N + j]), s.x);
            if (k + 1 < K)
                s.y = fmaf(f.y, __half2float(b[(size_t)(k + 1) * N + j]), s.y);
        }
        float t = s.x + s.y;
        for (int o = 16; o; o >>= 1)
            t += __shfl_down_sync(0xffffffffu, t, o);
        if (lane == 0)
            c[e] = __float2half_rn(t);
    }
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    long long n = (long long)M * N;
    int blocks = n < 8192 ? (int)((n + 3) / 4) : 2112;
    gemm_kernel<<<blocks, 128>>>(A, B, C, M, N, K);
}
