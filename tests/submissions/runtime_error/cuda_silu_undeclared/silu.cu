// A variable is misspelt.
// expect: "N" is undefined
// expect: spelt
// never: tl.
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i < N)
