// A wrong kernel of clusters, whose host code says that it is the grader that failed.
// verdict: runtime_error
// expect: Not supported in line
// expect: __cluster_dims__
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__global__ void __cluster_dims__(1, 1, 1) silu_kernel(const float *x, float *y, int n)
//
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+        y[i] = x[i];
