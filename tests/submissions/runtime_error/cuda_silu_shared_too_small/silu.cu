// An array of 128 in shared memory for 256 threads.
// expect: in line 11
// expect: shared array `room`
// never: tl.
// base: runtime_error/cuda_silu_no_shared_bytes
//-    extern __shared__ float room[];
//+    __shared__ float room[128];
