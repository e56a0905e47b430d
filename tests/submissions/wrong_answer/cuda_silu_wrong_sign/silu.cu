// exp of x, not of −x.
// expect: sign in exp
// never: tl.
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = x[i] / (1.0f + expf(x[i]));
