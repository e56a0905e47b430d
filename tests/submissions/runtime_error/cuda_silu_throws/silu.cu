// Host code throws an exception that nobody catches.
// expect: n must be a multiple of 4
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-#include <cuda_runtime.h>
//+#include <stdexcept>
//+
//+#include <cuda_runtime.h>
//
//-    int threads = 100;
//+    if (n % 4 != 0)
//+        throw std::invalid_argument("n must be a multiple of 4");
//+    int threads = 256;
