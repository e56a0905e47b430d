// Warps, blocks and grids: one block of 256 threads each, out[thread] or out[0 …].
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>
#include <cub/cub.cuh>
#include <mma.h>
#include <cassert>
#include <cstdio>
namespace cg = cooperative_groups;
#define THREADS(name, In, Out) \
  extern "C" __global__ void __launch_bounds__(256) name(const In *x, const In *y, Out *out, int n)
const unsigned FULL = 0xffffffff;

THREADS(t_shuffles, int, int) {
  int t = threadIdx.x, v = x[t];
  out[t] = __shfl_xor_sync(FULL, v, 5) + 3 * __shfl_up_sync(FULL, v, 2) + 5 * __shfl_down_sync(FULL, v, 3, 8) +
           7 * __shfl_sync(FULL, v, t * 3);
}
THREADS(t_shuffles_wide, double, double) { out[threadIdx.x] = __shfl_xor_sync(FULL, x[threadIdx.x], 1); }
THREADS(t_votes, int, int) {
  int t = threadIdx.x, v = x[t];
  out[t] = __ballot_sync(FULL, v > 0) ^ (__any_sync(FULL, v == y[t]) << 3) ^ (__all_sync(FULL, v < 1000000000) << 5) ^
           __match_any_sync(FULL, v & 3);
}
THREADS(t_reduced, int, int) {
  int t = threadIdx.x;
  out[t] = __reduce_add_sync(FULL, x[t]) ^ __reduce_min_sync(FULL, x[t]) ^ __reduce_xor_sync(FULL, (unsigned)y[t]);
}
THREADS(t_groups, int, int) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int v = x[block.thread_rank()], sum = cg::reduce(tile, v, cg::plus<int>());
  int before = cg::exclusive_scan(tile, v, cg::plus<int>());
  block.sync();
  out[block.thread_rank()] = sum * 3 + before + tile.shfl(v, 2) + tile.size() + tile.meta_group_rank();
}
THREADS(t_coalesced, int, int) {
  int t = threadIdx.x;
  if (x[t] & 1) {
    auto active = cg::coalesced_threads();
    out[t] = active.thread_rank() * 100 + active.size();
  } else {
    out[t] = -1;
  }
}
THREADS(t_block_reduce, float, float) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = sum;
}
THREADS(t_block_scan, int, int) {
  using Scan = cub::BlockScan<int, 256>;
  __shared__ typename Scan::TempStorage storage;
  int sum;
  Scan(storage).ExclusiveSum(x[threadIdx.x], sum);
  out[threadIdx.x] = sum;
}
THREADS(t_block_sort, int, int) {
  using Sort = cub::BlockRadixSort<int, 256, 1>;
  __shared__ typename Sort::TempStorage storage;
  int keys[1] = {x[threadIdx.x]};
  Sort(storage).Sort(keys);
  out[threadIdx.x] = keys[0];
}
THREADS(t_copied, float, float) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[255 - t] + __ldg(&y[t]);
}
THREADS(t_tree, float, float) {
  extern __shared__ float dynamic[];
  int t = threadIdx.x;
  dynamic[t] = x[t];
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) dynamic[t] += dynamic[t + step];
    __syncthreads();
  }
  if (t == 0) out[0] = dynamic[0];
}
THREADS(t_counted, int, int) {
  int t = threadIdx.x;
  out[t] = __syncthreads_count(x[t] > 0) * 4 + __syncthreads_or(x[t] == 12345) * 2 + __syncthreads_and(x[t] < 9);
}
THREADS(t_wmma, half, float) {
  using namespace nvcuda;
  if (threadIdx.x >= 32) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 1.0f);
  wmma::load_matrix_sync(a, x, 16);
  wmma::load_matrix_sync(b, y, 16);
  wmma::mma_sync(c, a, b, c);
  for (int k = 0; k < c.num_elements; k++) c.x[k] *= 2;
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
THREADS(t_atomics, int, int) {
  int v = x[threadIdx.x];
  atomicAdd(&out[0], v);
  atomicMax(&out[1], v);
  atomicMin((unsigned *)&out[2], (unsigned)v);
  atomicAnd(&out[3], v);
  atomicOr(&out[4], v & 0xF0F0);
  atomicXor(&out[5], v);
  atomicInc((unsigned *)&out[6], 99);
  atomicDec((unsigned *)&out[7], 999);
  if (threadIdx.x == 7) atomicExch(&out[8], v);
  int seen = out[9], tried;
  do {
    tried = seen;
    seen = atomicCAS(&out[9], tried, tried + (v & 7));
  } while (seen != tried);
  out[16 + (atomicAdd(&out[10], 1) & 255)] = 1;
}
THREADS(t_atomics_float, float, float) {
  atomicAdd(&out[threadIdx.x & 3], x[threadIdx.x]);
  atomicAdd((double *)out + 2, (double)y[threadIdx.x]);
}
THREADS(t_atomics_long, long long, long long) {
  atomicAdd((unsigned long long *)&out[0], (unsigned long long)x[threadIdx.x]);
  atomicMax(&out[1], x[threadIdx.x]);
}
__device__ __noinline__ int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
THREADS(t_recursion, int, int) { out[threadIdx.x] = fibonacci(threadIdx.x % 9); }
THREADS(t_switch, int, int) {
  int t = threadIdx.x, v = x[t];
  switch (v & 7) {
    case 0: v += 10; break;
    case 1: v *= 3; break;
    case 2: v ^= 0x55;
    case 3: v -= 7; break;
    case 4: v = -v; break;
    case 5: v <<= 2; break;
    case 6: v = y[t]; break;
    default: v = __popc(v);
  }
  out[t] = v;
}
THREADS(t_local, int, int) {
  int table[16];
  for (int k = 0; k < 16; k++) table[k] = x[threadIdx.x] * k;
  int sum = 0;
  for (int k = 0; k < 16; k++) sum += table[(y[threadIdx.x] + k * k) & 15] * k;
  out[threadIdx.x] = sum;
}
__device__ __noinline__ float twice(float v) { return 2 * v; }
__device__ __noinline__ float square(float v) { return v * v; }
THREADS(t_pointers, float, float) {
  float (*chosen)(float) = threadIdx.x & 1 ? twice : square;
  out[threadIdx.x] = chosen(x[threadIdx.x]);
}
THREADS(t_printed, int, int) {
  assert(n > 0);
  if (threadIdx.x == 3) printf("%d of %d: %f\n", x[3], n, 1.5f);
  out[threadIdx.x] = x[threadIdx.x];
}
THREADS(t_loops, int, int) {
  int v = x[threadIdx.x] & 1023, steps = 0;
  while (v > 1 && steps < 500) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    if (v == 17) continue;
    steps++;
    if (steps == 111) break;
  }
  out[threadIdx.x] = steps;
}
