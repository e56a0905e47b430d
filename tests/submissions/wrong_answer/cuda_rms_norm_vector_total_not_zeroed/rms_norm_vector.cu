// The total is never set to 0.
// expect: in line 23
// expect: nothing has written
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-    cudaMemset(total, 0, sizeof(float));
