// The address of the input decides whether anything is computed.
// expect: on where its memory lies
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i < n && (size_t)x % (1ull << 40) == 0)
