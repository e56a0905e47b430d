// The file includes itself, twice, to a depth of 200.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include __FILE__
//+#include __FILE__
//+
//+#include <cuda_runtime.h>
