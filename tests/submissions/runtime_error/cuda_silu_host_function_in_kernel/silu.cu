// A kernel calls a function of the host.
// expect: sigmoid
// expect: __device__
// never: tl.
// base: accepted/cuda_silu_recursive_kernel_helper
//-__device__ __noinline__ float power(float base, int exponent)
//+float sigmoid(float x)
//
//-    return exponent == 0 ? 1.0f : base * power(base, exponent - 1);
//+    return 1.0f / (1.0f + expf(-x));
//
//-        y[i] = x[i] / (1.0f + power(expf(-0.25f * x[i]), 4));
//+        y[i] = x[i] * sigmoid(x[i]);
