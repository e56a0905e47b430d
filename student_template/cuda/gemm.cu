// Matrix product: C[i, j] = Σ over k of A[i, k] · B[k, j].
//
// A: M·K, B: K·N, C: M·N elements of type half, row after row, on the device, any sizes from 1 on. The sum is kept in
// float and rounded once. Write into C, which arrives full of NaN; leave A and B alone.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(const half *A, const half *B, half *C, int M, int N, int K)
{
    // 1. Which element of C is this thread's, and does it exist?
    // 2. Walk along K in steps of a tile: the block loads a tile of A and a tile of B into __shared__ memory,
    //    waits, and each thread adds its products, in float. What must elements past K count as? When may the
    //    tiles be overwritten?
    // 3. Round with __float2half, and store.
}

void gemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    // How many tiles cover M rows and N columns?
    // not written yet: gemm
}
