// A kernel that returns a float.
// expect: void
// never: tl.
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__global__ float silu_kernel(const float *x, float *y, int n)
