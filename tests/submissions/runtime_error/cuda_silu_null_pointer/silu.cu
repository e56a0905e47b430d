// cudaMalloc is forgotten: the kernel is given a null pointer.
// expect: line
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    float *copy = nullptr;
//+    silu_kernel<<<blocks, threads>>>(input, copy, n);
//+    silu_kernel<<<blocks, threads>>>(copy, output, n);
