// What is copied depends on the sign of an element.
// verdict: policy_violation, runtime_error, wrong_answer
// expect: h_A
// base: accepted/cuda_copy_first_column_vector
//-        column[i] = h_A[(size_t)i * cols];
//+        column[i] = h_A[(size_t)i * cols] >= 0.0f ? h_A[(size_t)i * cols] : -0.0f;
