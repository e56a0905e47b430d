// Stops the whole context.
// verdict: runtime_error, wrong_answer
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i == 0)
//+        __trap();
//+    if (i < n)
