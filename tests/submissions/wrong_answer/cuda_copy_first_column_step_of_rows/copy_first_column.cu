// The step from row to row is the number of rows.
// expect: number of rows: it is the number of columns
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * (rows < cols ? rows : cols)];
