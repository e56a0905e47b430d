// The shuffles begin at 8: half of the warp is not in the sum.
// expect: elements are wrong
// never: tl.
// base: accepted/cuda_rms_norm_matrix_warp_a_row
//-    for (int lane = 16; lane > 0; lane /= 2)
//+    for (int lane = 8; lane > 0; lane /= 2)
