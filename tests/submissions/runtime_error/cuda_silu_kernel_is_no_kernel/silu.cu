// __device__ where __global__ is meant.
// expect: __global__
// never: tl.
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__device__ void silu_kernel(const float *x, float *y, int n)
