// A device function that calls itself without end.
// verdict: runtime_error, time_limit, needs_gpu, wrong_answer, memory_limit
// base: accepted/cuda_silu_recursive_kernel_helper
//-__device__ __noinline__ float power(float base, int exponent)
//+__device__ __noinline__ float deeper(float x, volatile float *y)
//
//-    return exponent == 0 ? 1.0f : base * power(base, exponent - 1);
//+    *y = x;
//+    return deeper(x + 1.0f, y) + *y;
//
//-        y[i] = x[i] / (1.0f + power(expf(-0.25f * x[i]), 4));
//+        y[i] = deeper(x[i], y + i);
