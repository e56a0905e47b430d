// Host code makes the column what it likes, in the matrix itself.
// verdict: wrong_answer, policy_violation, runtime_error
// base: accepted/cuda_copy_first_column_openmp
//-#pragma omp parallel for schedule(static)
//+    for (int i = 0; i < rows; ++i)
//+        h_A[(size_t)i * cols] = 0.0f;
