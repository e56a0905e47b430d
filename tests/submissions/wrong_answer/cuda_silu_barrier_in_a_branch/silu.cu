// A barrier that only the threads with an element reach.
// expect: __syncthreads()
// expect: not reached by all threads
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+    __shared__ float room[256];
//+    if (i < n) {
//+        room[255 - threadIdx.x] = x[i];
//+        __syncthreads();
//+        float v = room[255 - threadIdx.x];
//+        y[i] = v / (1.0f + expf(-v));
//+    } else {
//+        __threadfence();
//+        __syncthreads();
//+        __syncthreads();
//+    }
