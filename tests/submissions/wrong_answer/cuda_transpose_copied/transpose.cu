// Each tile goes where it belongs, and is not turned.
// expect: `tile`
// expect: nothing has written
// never: tl.
// base: accepted/cuda_transpose_tile
//-        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
//+        out[(size_t)col * rows + row] = tile[threadIdx.y][threadIdx.x];
