// The launch exchanges rows and columns.
// expect: past the end of weight
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
//+    rms_norm_kernel<<<cols, THREADS>>>(input, weight, output, rows, epsilon);
