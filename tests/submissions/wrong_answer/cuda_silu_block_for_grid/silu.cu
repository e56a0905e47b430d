// Blocks and threads are exchanged in the launch: right as long as both fit.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    int threads = 64;
//
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<threads, blocks < 1024 ? blocks : 1024>>>(input, output, n);
