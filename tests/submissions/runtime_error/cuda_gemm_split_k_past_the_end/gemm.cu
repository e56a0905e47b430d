// The last share of K ends where a whole one would.
// expect: outside
// proved: makes every case right: an end that is limited by a size
// never: tl.
// base: accepted/cuda_gemm_split_k
//-    for (int k = blockIdx.z * step; k < min(K, (int)(blockIdx.z + 1) * step); ++k)
//+    for (int k = blockIdx.z * step; k < (blockIdx.z + 1) * step; ++k)
