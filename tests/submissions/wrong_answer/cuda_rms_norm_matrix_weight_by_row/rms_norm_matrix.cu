// The weight is taken by row.
// expect: indexed by row
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-        y[j] = x[j] / rms * weight[j];
//+        y[j] = x[j] / rms * weight[blockIdx.x % cols];
