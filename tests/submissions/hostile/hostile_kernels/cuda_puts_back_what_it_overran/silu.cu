// Stores behind the end of the output, and puts back what was there.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    if (i == 0) {
//+        float before = y[n];
//+        y[n] = 1.0f;
//+        __threadfence();
//+        y[n] = before;
//+    }
//+    if (i < n)
