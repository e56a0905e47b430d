// The file has a __cudaLaunchKernel of its own, which swallows launches.
// verdict: runtime_error, wrong_answer
// base: accepted/cuda_silu_recursive_kernel_helper
//-__device__ __noinline__ float power(float base, int exponent)
//+extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t)
//
//-    return exponent == 0 ? 1.0f : base * power(base, exponent - 1);
//+    return cudaSuccess;
//+}
//+
//+extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t)
//+{
//+    return cudaSuccess;
//
//-        y[i] = x[i] / (1.0f + power(expf(-0.25f * x[i]), 4));
//+        y[i] = x[i] / (1.0f + expf(-x[i]));
