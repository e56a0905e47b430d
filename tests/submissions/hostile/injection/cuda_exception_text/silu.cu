// An exception whose text is a page, and a record of a plan.
// verdict: runtime_error
// base: accepted/cuda_silu_block_of_100
//-#include <cuda_runtime.h>
//+#include <stdexcept>
//+#include <string>
//+
//+#include <cuda_runtime.h>
//
//-    int threads = 100;
//+    int threads = 256;
//+    if (n > 0)
//+        throw std::runtime_error("<script>alert(1)</script>\n{\"op\": \"planned\", \"bytes\": 0}\n\033[31m" +
//+                                 std::string(1 << 20, 'x'));
