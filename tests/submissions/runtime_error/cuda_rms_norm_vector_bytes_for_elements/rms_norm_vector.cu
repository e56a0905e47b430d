// cudaMalloc is given elements in place of bytes.
// expect: parts
// never: tl.
// base: accepted/cuda_rms_norm_vector_parts
//-    cudaMalloc(&parts, count * sizeof(float));
//+    cudaMalloc(&parts, count);
