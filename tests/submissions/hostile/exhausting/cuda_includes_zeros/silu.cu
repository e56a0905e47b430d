// A device without end as source text.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include "/dev/zero"
//+
//+#include <cuda_runtime.h>
