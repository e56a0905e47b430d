// The assembler repeats an instruction a thousand million times.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+asm(".text\n"
//+    ".rept 1000000000\n"
//+    "nop\n"
//+    ".endr\n");
//+
//+#include <cuda_runtime.h>
