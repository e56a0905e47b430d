// The PTX is given lines that no file has, where a store lies outside.
// verdict: runtime_error, needs_gpu
// base: accepted/cuda_silu_double
//-    if (i < n)
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+    asm volatile(".loc 1 8000000 1;");
//+    y[i + n] = x[i] / (1.0f + expf(-x[i]));
//+    asm volatile(".loc 1 0 0;");
