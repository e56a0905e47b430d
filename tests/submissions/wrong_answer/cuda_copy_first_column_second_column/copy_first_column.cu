// Columns are counted from 1.
// expect: column after the first
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * cols + (cols > 1)];
