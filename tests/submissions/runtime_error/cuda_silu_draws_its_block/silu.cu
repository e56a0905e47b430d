// Host code takes the size of a block by chance.
// expect: something else each time it is called
// expect: leave out rand() and clocks
// never: value
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include <cstdlib>
//+#include <ctime>
//+#include <cuda_runtime.h>
//+#include <unistd.h>
//
//-    int threads = 256;
//+    timespec now;
//+    clock_gettime(CLOCK_MONOTONIC, &now);
//+    srand(now.tv_nsec + getpid());
//+    int threads = 1 + rand() % 1000;
