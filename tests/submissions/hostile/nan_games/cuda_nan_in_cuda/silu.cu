// Stores NaN, of which the comparison might say that it differs from nothing.
// verdict: wrong_answer
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = nanf("");
