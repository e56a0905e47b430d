// Threads meet before they have waited for their copies.
// expect: __syncthreads
// never: tl.
// base: accepted/cuda_silu_copies_ahead
//-        __pipeline_wait_prior(1);
//-        __syncthreads();
//+        __syncthreads();
//+        __pipeline_wait_prior(1);
