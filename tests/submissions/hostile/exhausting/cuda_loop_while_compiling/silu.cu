// A loop of 2⁶² steps that the compiler is to run.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+constexpr unsigned long count()
//+{
//+    unsigned long sum = 0;
//+    for (unsigned long i = 0; i < 1ul << 31; ++i)
//+        for (unsigned long j = 0; j < 1ul << 31; ++j)
//+            sum += i ^ j;
//+    return sum;
//+}
//+
//+static_assert(count() != 1);
//+
//+#include <cuda_runtime.h>
