// The last brace is missing.
// expect: expected a "}"
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//-}
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
