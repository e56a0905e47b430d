// Host code ends the process where n is small.
// expect: exit
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-#include <cuda_runtime.h>
//+#include <cstdlib>
//+
//+#include <cuda_runtime.h>
//
//-    int threads = 100;
//+    if (n < 1000)
//+        exit(1);
//+    int threads = 256;
