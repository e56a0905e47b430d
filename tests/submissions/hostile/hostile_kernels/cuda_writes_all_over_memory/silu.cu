// Stores far before, far behind and far outside its arrays.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    for (long long k = 1; k < 1ll << 40; k *= 16) {
//+        y[k] = 1.0f;
//+        y[-k] = 1.0f;
//+    }
//+    if (i < n)
