// Blocks of 16×16 threads for tiles of 32×32.
// expect: never written
// expect: covers 16 x 16
// never: tl.
// base: accepted/cuda_transpose_tile
//-    dim3 threads(TILE, TILE);
//+    dim3 threads(16, 16);
