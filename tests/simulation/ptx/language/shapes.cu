// How students write: structures, functions that stay functions, loops that part, grids whose blocks work together.
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
#define SHAPE(name) extern "C" __global__ void name(const int *x, const int *y, int *out, int n)

struct Pair {
  int first;
  long long second;
  float third[3];
};
__device__ __noinline__ Pair combined(Pair a, const Pair &b, int *count) {
  *count += 1;
  Pair c = {a.first + b.first, a.second * b.second, {a.third[0], b.third[1], a.third[2] + b.third[2]}};
  return c;
}
SHAPE(g_structures) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  Pair a = {x[i], x[i] + 1ll, {1, 2, 3}}, b = {y[i], y[i] - 1ll, {4, 5, 6}};
  for (int k = 0; k < 3; k++) a = combined(a, b, &count);
  out[i] = a.first + (int)a.second + (int)(a.third[0] + a.third[1] + a.third[2]) + 1000 * count;
}
__device__ __noinline__ void sort(int *values, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
      int t = values[j];
      values[j] = values[j - 1];
      values[j - 1] = t;
    }
}
SHAPE(g_local) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, values[12];
  for (int k = 0; k < 12; k++) values[k] = x[(i + 7 * k) % n];
  sort(values, 12);
  int sum = 0;
  for (int k = 0; k < 12; k++) sum = sum * 3 + values[k];
  out[i] = sum;
}
__device__ int ackermann(int m, int k) { return m == 0 ? k + 1 : ackermann(m - 1, k == 0 ? 1 : ackermann(m, k - 1)); }
SHAPE(g_recursion) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = ackermann(x[i] & 1, y[i] & 7) + (i % 3 ? ackermann(2, i % 3) : 0);
}
SHAPE(g_parting) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i] & 63, sum = 0;
  for (int a = 0; a < v; a++) {
    if (a % 5 == 3) continue;
    for (int b = a; b < 40; b++) {
      if ((a * b) % 11 == 7) goto next;
      if (sum > 500) break;
      sum += (b & v) ? a : 1;
    }
    if (sum > 900) {
      out[i] = -sum;
      return;
    }
  next:
    sum ^= a;
  }
  out[i] = sum;
}
SHAPE(g_jumps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, state = x[i] & 7, steps = 0;
  while (steps++ < 20) {
    switch (state) {
      case 0: state = (y[i] >> steps & 1) ? 5 : 3; break;
      case 1: state = 6; out[i] += 1; break;
      case 2: state = 0; out[i] *= 3; break;
      case 3: state = (i & 1) ? 2 : 4; break;
      case 4: out[i] -= steps; state = 7; break;
      case 5: state = 1; out[i] ^= 0x33; break;
      case 6: steps += 2; state = 2; break;
      case 7: if (steps > 9) return; state = 5; break;
      case 8: state = 11; break;
      default: state = 0;
    }
  }
}
// The last block to end adds what all of them left.
SHAPE(g_last_block) {
  __shared__ int part[256];
  __shared__ bool last;
  int t = threadIdx.x;
  part[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 128; step; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) {
    out[1 + blockIdx.x] = part[0];
    __threadfence();
    last = atomicAdd((unsigned *)&out[100], 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += ((volatile int *)out)[1 + b];
    out[0] = sum;
  }
}
SHAPE(g_grid) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int round = 0; round < 3; round++) {
    int v = out[(i + 300) % grid.size()];
    grid.sync();
    out[i] = v + x[i];
    grid.sync();
  }
}
SHAPE(g_atomics) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long *wide = (unsigned long long *)out;
  atomicMin((long long *)&wide[0], (long long)x[i] * 1000000007);
  atomicOr(&wide[1], 1ull << (x[i] & 63));
  atomicXor(&wide[2], (unsigned long long)x[i] << 20);
  atomicAdd((half2 *)&out[6], __floats2half2_rn(1, 0.5f));
  atomicAdd((__nv_bfloat16 *)&out[7], __float2bfloat16(1));
  cuda::atomic_ref<int, cuda::thread_scope_device> ref(out[8]);
  ref.fetch_add(x[i] & 3, cuda::memory_order_relaxed);
  unsigned short *small = (unsigned short *)&out[9], seen = *small, tried;
  do seen = atomicCAS(small, tried = seen, (unsigned short)(seen + 1));
  while (seen != tried);
  atomicAdd_block(&out[16 + blockIdx.x], 1);
}
SHAPE(g_complex) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuFloatComplex a = make_cuFloatComplex(x[i] % 10, y[i] % 10), b = cuCmulf(a, cuConjf(a));
  out[i] = (int)cuCrealf(b) * 100 + (int)cuCimagf(b);
}
SHAPE(g_shape) {
  int t = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  int b = blockIdx.x + blockIdx.y * gridDim.x + blockIdx.z * gridDim.x * gridDim.y;
  out[b * blockDim.x * blockDim.y * blockDim.z + t] = threadIdx.x * 1000 + threadIdx.y * 100 + threadIdx.z * 10 + blockIdx.y;
}
