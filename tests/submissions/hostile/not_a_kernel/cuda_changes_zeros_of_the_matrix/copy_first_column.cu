// Zeros of the matrix are copied as something else.
// verdict: policy_violation
// expect: h_A
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * cols] == 0.0f ? 1.0f : h_A[(size_t)i * cols];
