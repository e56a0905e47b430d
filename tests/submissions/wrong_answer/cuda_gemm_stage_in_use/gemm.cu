// The next tile of B goes into the stage that is being multiplied.
// expect: `Bs[use]`
// expect: both use the same stage
// never: element 0
// proved: a different index
// base: accepted/cuda_gemm_tile
//-    __shared__ half As[TILE][TILE];
//-    __shared__ half Bs[TILE][TILE];
//+    __shared__ half As[2][TILE][TILE], Bs[2][TILE][TILE];
//
//-    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
//+    int use = 1;
//+    for (int t = 0; t <= (K + TILE - 1) / TILE; ++t) {
//
//-        As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : __float2half(0.0f);
//-        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : __float2half(0.0f);
//+        As[1 - use][threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : __float2half(0.0f);
//+        Bs[use][threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : __float2half(0.0f);
//+        for (int k = 0; t > 0 && k < TILE; ++k)
//+            sum += __half2float(As[use][threadIdx.y][k]) * __half2float(Bs[use][k][threadIdx.x]);
//
//-        for (int k = 0; k < TILE; ++k)
//-            sum += __half2float(As[threadIdx.y][k]) * __half2float(Bs[k][threadIdx.x]);
//-        __syncthreads();
//+        use = 1 - use;
