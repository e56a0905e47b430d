// The factor x is forgotten.
// expect: σ(x) alone
// never: tl.
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = 1.0f / (1.0f + expf(-x[i]));
