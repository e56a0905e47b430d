// The hardware's tangent, in place of the exponential, is off by 2^-11.
// expect: `tanh.approx.f32` in line
// expect: only approximates
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__device__ float tangent(float x)
//+{
//+    float found;
//+    asm("tanh.approx.f32 %0, %1;" : "=f"(found) : "f"(x));
//+    return found;
//+}
//+
//+__global__ void silu_kernel(const float *x, float *y, int n)
//
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+        y[i] = 0.5f * x[i] * (1.0f + tangent(0.5f * x[i]));
