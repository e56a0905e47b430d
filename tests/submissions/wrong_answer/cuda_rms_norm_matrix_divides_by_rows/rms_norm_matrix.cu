// The sum is divided by the number of blocks, which is that of the rows.
// expect: divided by the number of rows
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    float rms = sqrtf(sums[0] / cols + epsilon);
//+    float rms = sqrtf(sums[0] / gridDim.x + epsilon);
