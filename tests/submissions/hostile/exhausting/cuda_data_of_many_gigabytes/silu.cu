// An array of 16 GiB that begins with a 1: the object file has to hold it.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+unsigned char data[1ul << 34] = {1};
//+
//+#include <cuda_runtime.h>
