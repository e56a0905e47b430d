// Shared memory is read where nothing was stored: the store has another index than the load.
// expect: in line 14
// expect: room
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//+    __shared__ float room[512];
//+    if (i < n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        room[threadIdx.x] = x[i];
//+    __syncthreads();
//+    float v = room[threadIdx.x + 256];
//+    if (i < n)
//+        y[i] = v / (1.0f + expf(-v));
