// Thread 0 exchanges a flag that other warps have not read yet; nobody uses what the exchange returns.
// expect: in line 15 and in line 22
// expect: __syncthreads() after line 15
// never: tl.
// base: accepted/cuda_gelu_flag_exchanged_after_barrier
//-        step++;
//-        __syncthreads();
//+        step++;
