// The loop that gathers takes a step too many in each row.
// expect: reads past the end of `h_A`
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * (cols + 1)];
