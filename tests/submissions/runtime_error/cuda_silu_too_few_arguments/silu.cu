// The launch leaves out n.
// expect: too few arguments
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, threads>>>(input, output);
