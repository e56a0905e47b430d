// The tile of B has rows of 24, and is loaded as if they had 16.
// expect: They lie in the gaps between stored rows: rows of 32 bytes begin 48 bytes apart
// never: reads 8
// never: no thread stores
// base: wrong_answer/cuda_gemm_wmma_b_by_columns
//-    __shared__ half left[TILE * TILE], right[TILE * TILE];
//+    __shared__ half left[TILE * TILE], right[TILE * 24];
//
//-    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, TILE, TILE, TILE, half, nvcuda::wmma::col_major> b;
//+    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, TILE, TILE, TILE, half, nvcuda::wmma::row_major> b;
//
//-            right[i] = down < K && col < N ? B[down * N + col] : __float2half(0.0f);
//+            right[i / TILE * 24 + i % TILE] = down < K && col < N ? B[down * N + col] : __float2half(0.0f);
