// v ^ 3, with the exponents of a calculator, of the whole number.
// expect: elements are wrong
// never: tl.
// base: accepted/cuda_gelu_tanhf
//-        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
//+        float u = 0.7978845608f * (v + 0.044715f * ((int)v ^ 3));
