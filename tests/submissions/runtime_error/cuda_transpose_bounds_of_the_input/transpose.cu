// Where tiles do not cover the matrix, the store compares with the sizes of the input.
// expect: line 20
// proved: makes every case right: two names exchanged
// never: tl.
// base: accepted/cuda_transpose_tile
//-    int col = blockIdx.y * TILE + threadIdx.x;
//-    if (row < rows && col < cols)
//+    int col = blockIdx.y * TILE + threadIdx.x;
//+    const bool whole = rows % TILE == 0 && cols % TILE == 0;
//+    if (whole || (row < rows && col < cols))
//
//-    row = blockIdx.x * TILE + threadIdx.x;
//-    col = blockIdx.y * TILE + threadIdx.y;
//-    if (row < rows && col < cols)
//+    int down = blockIdx.y * TILE + threadIdx.y, across = blockIdx.x * TILE + threadIdx.x;
//+    if (whole || (down < rows && across < cols))
//
//-        out[(size_t)col * rows + row] = tile[threadIdx.x][threadIdx.y];
//+        out[(size_t)down * rows + across] = tile[threadIdx.x][threadIdx.y];
