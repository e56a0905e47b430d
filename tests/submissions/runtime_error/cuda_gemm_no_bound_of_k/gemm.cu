// The loads do not compare with K.
// expect: K
// never: tl.
// base: accepted/cuda_gemm_tile
//-        As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : __float2half(0.0f);
//-        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : __float2half(0.0f);
//+        As[threadIdx.y][threadIdx.x] = row < M ? A[row * K + a] : __float2half(0.0f);
//+        Bs[threadIdx.y][threadIdx.x] = col < N ? B[b * N + col] : __float2half(0.0f);
