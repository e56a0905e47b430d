// The loop over K ends at N.
// expect: K
// never: tl.
// base: accepted/cuda_gemm_tile
//-    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
//+    for (int t = 0; t < (N + TILE - 1) / TILE; ++t) {
