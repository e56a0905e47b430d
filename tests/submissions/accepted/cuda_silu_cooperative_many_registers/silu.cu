// A block for each multiprocessor, with as many registers as one has.
// base: runtime_error/cuda_silu_cooperative_of_many_registers
//-    cudaLaunchCooperativeKernel((void *)silu_kernel, dim3(132 * 3), dim3(256), arguments, 0, 0);
//+    cudaLaunchCooperativeKernel((void *)silu_kernel, dim3(132), dim3(256), arguments, 0, 0);
