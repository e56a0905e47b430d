// The grid is rounded down.
// expect: never written
// never: tl.
// base: accepted/cuda_transpose_tile
//-    dim3 blocks((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
//+    dim3 blocks(max(1, rows / TILE), max(1, cols / TILE));
