// The launch is commented out.
// expect: never written
// expect: No kernel was launched
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    // silu_kernel<<<blocks, threads>>>(input, output, n);
