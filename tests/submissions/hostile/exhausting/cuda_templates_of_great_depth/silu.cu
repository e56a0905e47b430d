// A template that needs itself a million times.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+template <int N>
//+struct Deep {
//+    static constexpr long value = Deep<N - 1>::value + 1;
//+};
//+
//+template <>
//+struct Deep<0> {
//+    static constexpr long value = 0;
//+};
//+
//+static_assert(Deep<1000000>::value > 0);
//+
//+#include <cuda_runtime.h>
