// The number of blocks is rounded down: the last elements are left out, and a small input altogether.
// expect: rounds down
// expect: rounds n / d up
// never: tl.
// base: accepted/cuda_silu_plain
//-    int blocks = (n + threads - 1) / threads;
//+    int blocks = n / threads;
