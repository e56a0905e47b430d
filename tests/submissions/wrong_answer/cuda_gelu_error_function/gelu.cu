// The form with erf.
// expect: tanh form
// never: tl.
// base: accepted/cuda_gelu_tanhf
//-        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
//-        y[i] = 0.5f * v * (1.0f + tanhf(u));
//+        y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
