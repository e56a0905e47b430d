// Only the first 256 columns are in the sum.
// expect: only the squares of the first columns
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//-        sum += x[j] * x[j];
//+    int j = threadIdx.x;
//+    if (j < cols)
//+        sum += x[j] * x[j];
//
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//-        y[j] = x[j] / rms * weight[j];
//+    for (j = threadIdx.x; j < cols; j += THREADS)
//+        y[j] = x[j] / rms * weight[j];
