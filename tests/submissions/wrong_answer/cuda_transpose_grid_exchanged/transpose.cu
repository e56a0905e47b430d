// The axes of the grid are exchanged.
// expect: never written
// never: tl.
// base: accepted/cuda_transpose_tile
//-    dim3 blocks((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
//+    dim3 blocks((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
