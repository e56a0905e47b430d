// __global__ is forgotten.
// expect: __global__
// never: tl.
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+void silu_kernel(const float *x, float *y, int n)
