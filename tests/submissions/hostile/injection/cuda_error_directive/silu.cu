// An error of its own, with what a browser or a terminal would act on.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#error <script>alert("compiled")</script> <img src=x onerror=alert(1)> [31mred[0m ‮gpj.exe
//+
//+#include <cuda_runtime.h>
