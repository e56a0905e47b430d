// The second check compares with the other sizes.
// expect: line 19
// never: tl.
// base: accepted/cuda_transpose_tile
//-    if (row < rows && col < cols)
//-        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
//+    if (row < cols && col < rows)
//+        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
