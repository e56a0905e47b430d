// A wrong kernel with a breakpoint, which no simulator has.
// verdict: runtime_error
// expect: Not supported in line 9: silu_kernel has brkpt
// base: accepted/cuda_silu_plain
//-    if (i < n)
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+    asm volatile("brkpt;");
//+    if (i < n)
//+        y[i] = x[i];
