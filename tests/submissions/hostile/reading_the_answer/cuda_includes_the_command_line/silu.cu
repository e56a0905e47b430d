// The command lines of the compiler and of what started it.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include "/proc/self/cmdline"
//+#include "/proc/1/cmdline"
//+
//+#include <cuda_runtime.h>
