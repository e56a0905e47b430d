// An int between, which cuts off the fraction.
// expect: without its fraction
// never: tl.
// base: accepted/cuda_vector_copy_plain
//-        to[i] = from[i];
//+        to[i] = (float)(int)from[i];
