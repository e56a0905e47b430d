// Lanes without an element begin at -infinity, and two of them differ by NaN.
// expect: NaN
// never: tl.
// proved: an initial value
// base: accepted/cuda_softmax_online
//-    float top = -3.4e38f, sum = 0.0f;
//+    float top = -INFINITY, sum = 0.0f;
