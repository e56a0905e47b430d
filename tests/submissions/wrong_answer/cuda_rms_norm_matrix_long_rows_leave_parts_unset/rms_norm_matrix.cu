// For rows that only a GPU runs, half of the threads store no part of the sum.
// expect: reads elements of your own array `sums` that nothing has written
// never: build on what others have stored
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    sums[threadIdx.x] = sum;
//+    if (cols < 25000 || threadIdx.x < THREADS / 2)
//+        sums[threadIdx.x] = sum;
