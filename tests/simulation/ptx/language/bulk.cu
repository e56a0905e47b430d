// Boxes of WIDE x HIGH elements by maps that the kernel makes, swizzled as MODE says; bytes where none is defined.
#include <cstdint>
#include <cuda_fp16.h>
struct alignas(128) Map { uint32_t words[32]; };
__device__ Map maps[2];
__device__ uint32_t at(void *shared) { return __cvta_generic_to_shared(shared); }
__device__ void begin(uint64_t *barrier, int bytes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t *barrier) {
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @p bra done; bra again;"
                 "done:}" ::"r"(at(barrier)) : "memory");
}
#ifdef WIDE
__device__ void make(Map *map, Map *draft, const half *tensor, int rows, int columns) {
    draft->words[threadIdx.x] = 0;
    __syncwarp();
#define SET(field, type, number) \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type ", %1;" ::"r"(at(draft)), number : "memory")
    if (threadIdx.x == 0) {
        SET("global_address", "b64 [%0]", "l"(tensor)); SET("rank", "b32 [%0]", "r"(1));
        SET("box_dim", "b32 [%0], 0", "r"(WIDE)); SET("box_dim", "b32 [%0], 1", "r"(HIGH));
        SET("global_dim", "b32 [%0], 0", "r"(columns)); SET("global_dim", "b32 [%0], 1", "r"(rows));
        SET("global_stride", "b64 [%0], 0", "l"(int64_t(columns) * 2));
        SET("element_stride", "b32 [%0], 0", "r"(1)); SET("element_stride", "b32 [%0], 1", "r"(1));
        SET("elemtype", "b32 [%0]", "n"(6)); SET("interleave_layout", "b32 [%0]", "n"(0));
        SET("swizzle_mode", "b32 [%0]", "n"(MODE)); SET("fill_mode", "b32 [%0]", "n"(0));
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%0], [%1], 128;" ::"l"(map), "r"(at(draft)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
__global__ void boxes(const half *in, half *out, uint32_t *image, int rows, int columns, int x, int y) {
    __shared__ __align__(1024) uint32_t box[WIDE * HIGH / 2];
    __shared__ Map draft;
    __shared__ uint64_t barrier;
    make(maps, &draft, in, rows, columns);
    make(maps + 1, &draft, out, rows, columns);
    if (threadIdx.x == 0) {
        begin(&barrier, sizeof(box));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(at(box)), "l"(maps), "r"(x), "r"(y), "r"(at(&barrier))
                     : "memory");
    }
    __syncwarp();
    wait(&barrier);
    for (int k = threadIdx.x; k < WIDE * HIGH / 2; k += 32) image[k] = box[k];
    __syncwarp();
    // Boxes that begin outside of a tensor are fetched only.
    if (threadIdx.x == 0 && x >= 0 && y >= 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(maps + 1), "r"(x), "r"(y), "r"(at(box)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
#else
__global__ void copy(const uint32_t *in, uint32_t *out, int bytes) {
    __shared__ __align__(16) uint32_t here[256];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        begin(&barrier, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(at(here)), "l"(in), "r"(bytes), "r"(at(&barrier)) : "memory");
    }
    __syncthreads();
    wait(&barrier);
    if (threadIdx.x < bytes / 4) here[threadIdx.x] += 1;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     ::"l"(out), "r"(at(here)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
#endif
