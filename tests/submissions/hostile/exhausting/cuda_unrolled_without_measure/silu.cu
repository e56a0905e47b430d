// Loops that are to be unrolled into ten million steps.
// verdict: runtime_error, time_limit, memory_limit, wrong_answer
// base: accepted/cuda_silu_double
//-    if (i < n)
//+    float v = i < n ? x[i] : 0.0f;
//+#pragma unroll
//+    for (int a = 0; a < 1000; ++a) {
//+#pragma unroll
//+        for (int b = 0; b < 100; ++b) {
//+#pragma unroll
//+            for (int c = 0; c < 100; ++c)
//+                v = sinf(v) * (a ^ b) + cosf(v + c);
//+        }
//+    }
//+    if (i < n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = v;
