// Host code writes through a null pointer.
// expect: host code crashes
// expect: a pointer never set
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    int *count = nullptr;
//+    *count = n;
//+    int threads = 256;
