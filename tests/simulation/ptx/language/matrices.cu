// Tensor cores: wmma of every type and shape, and the instructions below it. One warp works; n is the leading size.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>
using namespace nvcuda;
using R = wmma::row_major;
using C = wmma::col_major;

template <class In, class Stored, class Out, int M, int N, int K, class LayoutA, class LayoutB>
__device__ void multiply(const Stored *x, const Stored *y, Out *out, int lda, int ldb, wmma::layout_t order) {
  if (threadIdx.x >= 32) return;
  wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> a;
  wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> b;
  wmma::fragment<wmma::accumulator, M, N, K, Out> c;
  wmma::load_matrix_sync(a, x, lda);
  wmma::load_matrix_sync(b, y, ldb);
  wmma::load_matrix_sync(c, out, order == wmma::mem_row_major ? N : M, order);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, order == wmma::mem_row_major ? N : M, order);
}
#define MULTIPLY(name, In, Stored, Out, M, N, K, A, B, lda, ldb, order)                              \
  extern "C" __global__ void name(const Stored *x, const Stored *y, Out *out, int n) {               \
    multiply<In, Stored, Out, M, N, K, A, B>(x, y, out, lda, ldb, wmma::mem_##order##_major);        \
  }
MULTIPLY(m_half_rc, half, half, float, 16, 16, 16, R, C, 16, 16, row)
MULTIPLY(m_half_rr, half, half, half, 16, 16, 16, R, R, 16, 16, col)
MULTIPLY(m_half_tall, half, half, float, 32, 8, 16, C, R, 32, 8, row)
MULTIPLY(m_half_wide, half, half, float, 8, 32, 16, R, C, 16, 16, col)
MULTIPLY(m_bf16, __nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, R, C, 16, 16, row)
MULTIPLY(m_tf32, wmma::precision::tf32, float, float, 16, 16, 8, R, R, 8, 16, row)
MULTIPLY(m_signed, signed char, signed char, int, 16, 16, 16, R, C, 16, 16, row)
MULTIPLY(m_bytes, unsigned char, unsigned char, int, 32, 8, 16, C, C, 32, 16, row)
MULTIPLY(m_double, double, double, double, 8, 8, 4, R, C, 4, 4, row)

// 16 × 16 of halves, through shared memory, ldmatrix, two mma and stmatrix.
extern "C" __global__ void m_instructions(const half *x, const half *y, half *out, int n) {
  __shared__ __align__(16) half a[16][24], b[16][24];
  int t = threadIdx.x, row = t / 16, column = t % 16;
  a[row][column] = x[t];
  b[row][column] = y[t];
  __syncthreads();
  if (t >= 32) return;
  uint32_t fa[4], fb[4], d[4] = {0, 0, 0, 0};
  uint32_t at_a = __cvta_generic_to_shared(&a[t % 16][t / 16 * 8]), at_b = __cvta_generic_to_shared(&b[t % 16][t / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(at_b));
  for (int half_ = 0; half_ < 2; half_++)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(d[2 * half_]), "+r"(d[2 * half_ + 1])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * half_]), "r"(fb[2 * half_ + 1]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at_a), "r"(d[0]), "r"(d[1]), "r"(d[2]),
               "r"(d[3]) : "memory");
  __syncwarp();
  for (int k = t; k < 256; k += 32) out[k] = a[k / 16][k % 16];
}
