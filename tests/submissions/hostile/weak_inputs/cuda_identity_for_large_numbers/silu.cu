// The identity, where the input is large, and nothing computed below.
// verdict: wrong_answer
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
