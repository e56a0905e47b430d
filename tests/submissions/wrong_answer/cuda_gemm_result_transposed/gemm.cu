// The result is stored transposed.
// expect: stored transposed
// never: tl.
// base: accepted/cuda_gemm_tile
//-        C[row * N + col] = __float2half(sum);
//+        C[col * M + row] = __float2half(sum);
