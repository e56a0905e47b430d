// The barrier between the steps of the tree is missing.
// expect: in line 19
// expect: __syncthreads()
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        __syncthreads();
