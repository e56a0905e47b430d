// What is computed depends on the clock.
// verdict: needs_gpu, wrong_answer
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i < n && (clock64() & 1) == 0)
