// 1,024 threads keep 96 elements each, and the compiler spills what a block has no registers for.
// base: runtime_error/cuda_silu_registers_of_1024_threads
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__global__ void __launch_bounds__(THREADS) silu_kernel(const float *x, float *y, int n)
