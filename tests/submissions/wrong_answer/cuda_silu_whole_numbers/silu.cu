// The result is an int on its way.
// expect: without its fraction
// never: tl.
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = (int)(x[i] / (1.0f + expf(-x[i])));
