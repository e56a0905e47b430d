// An array of 64 KiB in shared memory, where 48 are the most.
// expect: 65536
// expect: at most 48 KiB of shared memory
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//+    __shared__ float room[16384];
//+    room[threadIdx.x * 64] = i < n ? x[i] : 0.0f;
//+    __syncthreads();
//+    float v = room[threadIdx.x * 64];
//+    if (i < n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = v / (1.0f + expf(-v));
