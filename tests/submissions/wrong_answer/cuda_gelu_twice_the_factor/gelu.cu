// √(2/π) is 2/√π times √(1/2), and here it is times √2.
// expect: The factor before x + 0.044715 x³ is not √(2/π)
// never: tl.
// base: accepted/cuda_gelu_tanhf
//-        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
//+        float u = float(M_2_SQRTPI * M_SQRT2) * (v + 0.044715f * v * v * v);
