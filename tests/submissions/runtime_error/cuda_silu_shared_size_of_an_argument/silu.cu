// The size of a shared array is an argument.
// expect: constant
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+    __shared__ float room[n];
//+    room[i] = x[i];
//+    y[i] = room[i] / (1.0f + expf(-room[i]));
