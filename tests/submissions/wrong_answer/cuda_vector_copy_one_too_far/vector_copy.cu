// Each element is the one after it.
// expect: one after it
// never: tl.
// base: accepted/cuda_vector_copy_plain
//-        to[i] = from[i];
//+        to[i] = from[(i + 1) % n];
