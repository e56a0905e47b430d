// Where K ends, the tile keeps what it held before.
// expect: in line 25
// never: tl.
// base: accepted/cuda_gemm_tile
//-        As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : __float2half(0.0f);
//-        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : __float2half(0.0f);
//+        if (row < M && a < K)
//+            As[threadIdx.y][threadIdx.x] = A[row * K + a];
//+        if (b < K && col < N)
//+            Bs[threadIdx.y][threadIdx.x] = B[b * N + col];
