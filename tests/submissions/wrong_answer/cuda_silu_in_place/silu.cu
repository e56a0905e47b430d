// The input is overwritten with the answer, and then copied.
// expect: inputs must not be changed
// never: tl.
// base: accepted/cuda_silu_double
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__global__ void silu_kernel(float *x, float *y, int n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        x[i] = x[i] / (1.0f + expf(-x[i]));
//+    if (i < n)
//+        y[i] = x[i];
