// The last thread adds to the row that others have not read.
// expect: in line 17 and in line 21
// expect: __syncthreads() after line 17
// never: tl.
// base: accepted/cuda_rms_norm_matrix_next_row_after_barrier
//-        int row = next;
//-        __syncthreads();
//+        int row = next;
