// No check of the index: the last block reads and writes past the end.
// expect: in line 10
// expect: past the end
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+    y[i] = x[i] / (1.0f + expf(-x[i]));
