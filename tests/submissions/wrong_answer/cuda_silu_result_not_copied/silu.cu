// The answer stays in memory of its own.
// expect: never written
// expect: what cudaMalloc gives is other memory
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    float *result;
//+    cudaMalloc(&result, n * sizeof(float));
//+    silu_kernel<<<blocks, threads>>>(input, result, n);
//+    cudaFree(result);
