// The kernel is called without <<<…>>>.
// expect: <<<
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel(input, output, n);
