// <= where < is meant: one element too far.
// expect: in line 11
// expect: <=
// never: tl.
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i <= n)
