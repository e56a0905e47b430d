// Blocks add to the total without an atomic: most of them are lost.
// expect: atomicAdd
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        atomicAdd(total, sums[0]);
//+        *total += sums[0];
