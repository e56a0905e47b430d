// The element before: the first thread reads before the array.
// expect: in line 10
// never: tl.
// base: accepted/cuda_vector_copy_plain
//-        to[i] = from[i];
//+        to[i] = from[i - 1];
