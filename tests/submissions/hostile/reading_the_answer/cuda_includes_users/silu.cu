// The list of users as source text.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include "/etc/passwd"
//+
//+#include <cuda_runtime.h>
