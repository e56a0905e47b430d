// Host code multiplies what it gathers by 1 and adds 0.
// expect: h_A
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * cols] * 1.0f + 0.5f - 0.5f;
