// The tree halves 192 threads until 3 are left, and forgets one of them.
// expect: computed once
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-#define THREADS 256
//+#define THREADS 192
