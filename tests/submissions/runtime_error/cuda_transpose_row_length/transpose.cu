// Rows of the output have `rows` elements: cols was taken.
// expect: in line 19
// never: tl.
// base: accepted/cuda_transpose_tile
//-        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
//+        out[(size_t)col * cols + row] = tile[threadIdx.x][threadIdx.y];
