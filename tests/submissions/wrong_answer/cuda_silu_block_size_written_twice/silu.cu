// The grid is counted with 256, and the blocks have 128 threads.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, 128>>>(input, output, n);
