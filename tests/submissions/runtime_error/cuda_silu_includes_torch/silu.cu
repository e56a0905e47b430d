// A header of PyTorch, which is not there.
// expect: torch/extension.h
// never: tl.
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include <torch/extension.h>
