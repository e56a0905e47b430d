// A constructor that never ends.
// verdict: time_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+__attribute__((constructor)) static void spin()
//+{
//+    for (volatile int i = 0;; i = i + 1)
//+        ;
//+}
//+
//+#include <cuda_runtime.h>
