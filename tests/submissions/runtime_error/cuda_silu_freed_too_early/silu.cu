// A scratch buffer is used after cudaFree.
// expect: freed before
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    float *copy;
//+    cudaMalloc(&copy, n * sizeof(float));
//+    cudaFree(copy);
//+    silu_kernel<<<blocks, threads>>>(input, copy, n);
//+    silu_kernel<<<blocks, threads>>>(copy, output, n);
