// Every second call launches nothing, by the clock of the host.
// verdict: wrong_answer, runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include <chrono>
//+
//+#include <cuda_runtime.h>
//
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    auto now = std::chrono::steady_clock::now().time_since_epoch().count();
//+    static auto first = now;
//+    if (now == first)
//+        silu_kernel<<<blocks, threads>>>(input, output, n);
