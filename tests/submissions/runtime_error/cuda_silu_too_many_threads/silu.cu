// A block of 2,048 threads.
// expect: 2048
// expect: 1 to 1024 threads
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    int threads = 2048;
