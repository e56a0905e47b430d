// The number of steps along K is rounded down.
// expect: end of K is missing
// never: tl.
// base: accepted/cuda_gemm_tile
//-    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
//+    for (int t = 0; t < K / TILE; ++t) {
