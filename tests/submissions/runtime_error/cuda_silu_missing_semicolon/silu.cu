// A semicolon is missing.
// expect: expected a ";"
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    int threads = 256
