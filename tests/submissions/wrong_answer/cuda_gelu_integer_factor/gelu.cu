// 1 / 2 is 0 in whole numbers, and so is what stands in tanh.
// expect: Line 12 divides whole numbers: `1 / 2` is 0
// never: half of x
// base: accepted/cuda_gelu_tanhf
//-        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
//-        y[i] = 0.5f * v * (1.0f + tanhf(u));
//+        float twice = 1.5957691216f * (v + 0.044715f * v * v * v);
//+        y[i] = 0.5f * v * (1.0f + tanhf(1 / 2 * twice));
