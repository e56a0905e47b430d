// The kernel asserts that n is a multiple of 32.
// expect: line 12
// expect: n % 32 == 0
// never: tl.
// base: accepted/cuda_silu_prints_and_asserts
//-#include <cstdio>
//
//-    assert(blockDim.x == 256);
//-    if (i == 0)
//-        printf("%d blocks for %d elements\n", gridDim.x, n);
//+    assert(n % 32 == 0);
