// Barriers in shared memory, and copies that arrive at them. One block of 256 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// A tile that all threads copy, and read in another order.
template <bool Waits> __device__ void exchange(const float *x, float *out) {
  __shared__ Barrier barrier;
  __shared__ float tile[256];
  int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    cuda::memcpy_async(&tile[t], &x[(t + round) % 256], sizeof(float), barrier);
    if (Waits) barrier.arrive_and_wait();
    float v = tile[255 - t];
    barrier.wait(barrier.arrive());
    out[t] += v;
  }
}

#define KERNEL(name, function)                                                        \
  extern "C" __global__ void name(const float *x, const float *y, float *out, int n) { function(x, out); }
KERNEL(s_barrier, exchange<true>)
KERNEL(s_barrier_early, exchange<false>)

// Four warps fill buffers that four others read: the one waits until a buffer is empty, the other until it is full.
template <bool WaitsEmpty, bool WaitsFull> __device__ void produce(const float *x, float *out) {
  __shared__ Barrier full[2], empty[2];
  __shared__ float buffer[2][128];
  int t = threadIdx.x;
  if (t < 2) {
    init(&full[t], 256);
    init(&empty[t], 256);
  }
  __syncthreads();
  float sum = 0;
  if (t >= 128) {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
  }
  for (int step = 0; step < 6; step++) {
    int k = step % 2;
    if (t < 128) {
      if (WaitsEmpty) empty[k].arrive_and_wait();
      else (void)empty[k].arrive();
      buffer[k][t] = x[(step * 17 + t) % 256];
      (void)full[k].arrive();
    } else {
      if (WaitsFull) full[k].arrive_and_wait();
      else (void)full[k].arrive();
      sum += buffer[k][(t * 7) % 128] * (step + 1);
      (void)empty[k].arrive();
    }
  }
  out[t] = sum;
}

#define COMMA ,
KERNEL(s_producers, produce<true COMMA true>)
KERNEL(s_producers_early, produce<false COMMA true>)
KERNEL(s_consumers_early, produce<true COMMA false>)

// The words that the classes above stand for, with a parity.
extern "C" __global__ void s_words(const float *x, const float *y, float *out, int n) {
  __shared__ alignas(8) unsigned long long word;
  __shared__ float tile[256];
  unsigned at = __cvta_generic_to_shared(&word), t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(256));
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&tile[t])), "l"(x + t));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at));
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at) : "memory");
  out[t] = tile[t ^ 37];
}

extern "C" __global__ void s_pipeline(const float *x, const float *y, float *out, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float tiles[2][256];
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int t = threadIdx.x;
  for (int step = 0, ahead = 0; step < 4; step++) {
    for (; ahead < 4 && ahead < step + 2; ahead++) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[ahead % 2][t], &x[(t + 5 * ahead) % 256], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    block.sync();
    out[t] += tiles[step % 2][255 - t];
    block.sync();
    pipeline.consumer_release();
  }
}
