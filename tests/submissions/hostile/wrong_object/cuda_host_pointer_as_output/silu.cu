// The parameter is overwritten: the answer goes to memory of its own.
// verdict: wrong_answer
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    cudaMalloc(&output, n * sizeof(float));
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
