// The step of the loop is forgotten in the kernel.
// alone on a gpu: its kernel does not end there
// base: accepted/cuda_silu_double
//-    if (i < n)
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+    while (i < n) {
//+        y[i] = x[i] / (1.0f + expf(-x[i]));
//+    }
