// Host code ends itself by a signal, behind its launch.
// expect: host code ends its process: raise(SIGKILL)
// expect: Leave the signal out
// never: tl.
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include <csignal>
//+#include <cuda_runtime.h>
//
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    raise(SIGKILL);
