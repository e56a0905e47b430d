// Elements are added, not their squares.
// expect: computed once
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        sum += x[i] * x[i];
//+        sum += x[i];
