// A loop on the host that never ends.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    int threads = 1;
//+    for (unsigned bit = 1; bit >= 0; bit *= 2)
//+        threads = bit < 256 ? 2 * bit : threads;
