// The compiler's environment as source text: what is quoted in an error was read.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include "/proc/self/environ"
//+
//+#include <cuda_runtime.h>
