// The block is missing from the index of the load.
// expect: first block
// never: tl.
// base: accepted/cuda_vector_copy_plain
//-        to[i] = from[i];
//+        to[i] = from[threadIdx.x];
