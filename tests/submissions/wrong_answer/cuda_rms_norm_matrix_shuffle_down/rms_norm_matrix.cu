// A reduction downwards leaves the sum in the first lane alone.
// expect: elements are wrong
// never: tl.
// base: accepted/cuda_rms_norm_matrix_warp_a_row
//-        sum += __shfl_xor_sync(0xffffffff, sum, lane);
//+        sum += __shfl_down_sync(0xffffffff, sum, lane);
