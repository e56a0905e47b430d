// exp(x) / (1 + exp(x)) is infinity by infinity for large x.
// expect: exp overflows
// never: tl.
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = x[i] * expf(x[i]) / (1.0f + expf(x[i]));
