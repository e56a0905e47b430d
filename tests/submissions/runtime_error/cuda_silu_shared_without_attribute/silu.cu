// 64 KiB of dynamic shared memory without asking for the permission.
// expect: 65536
// expect: cudaFuncAttributeMaxDynamicSharedMemorySize
// never: tl.
// base: runtime_error/cuda_silu_no_shared_bytes
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<blocks, threads, 65536>>>(input, output, n);
