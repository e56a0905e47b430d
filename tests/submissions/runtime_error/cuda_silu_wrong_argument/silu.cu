// Arguments of the launch in another order.
// expect: argument
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, threads>>>(n, input, output);
