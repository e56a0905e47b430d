// 1 / 2 is 0 in whole numbers.
// expect: 0
// never: tl.
// base: accepted/cuda_gelu_tanhf
//-        y[i] = 0.5f * v * (1.0f + tanhf(u));
//+        y[i] = 1 / 2 * v * (1.0f + tanhf(u));
