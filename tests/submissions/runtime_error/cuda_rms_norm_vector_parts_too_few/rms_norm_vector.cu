// Room for 16 parts, and 64 blocks.
// expect: in line 23
// expect: parts
// never: tl.
// base: accepted/cuda_rms_norm_vector_parts
//-    cudaMalloc(&parts, count * sizeof(float));
//+    cudaMalloc(&parts, 16 * sizeof(float));
