// A device that nobody writes to as source text.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include "/dev/tty"
//+#include "/dev/stdin"
//+
//+#include <cuda_runtime.h>
