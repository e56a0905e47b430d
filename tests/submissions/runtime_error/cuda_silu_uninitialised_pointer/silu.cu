// The address of a pointer on the host is given to the kernel.
// expect: line 18
// expect: host
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, threads>>>((float *)&input, output, n);
