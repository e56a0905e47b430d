// B is read as if it were transposed.
// expect: b was read transposed
// never: tl.
// base: accepted/cuda_gemm_tile
//-        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : __float2half(0.0f);
//+        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[col * K + b] : __float2half(0.0f);
