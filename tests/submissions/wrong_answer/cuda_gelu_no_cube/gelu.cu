// The cubic term is forgotten.
// expect: cube is missing
// never: tl.
// base: accepted/cuda_gelu_tanhf
//-        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
//+        float u = 0.7978845608f * v;
