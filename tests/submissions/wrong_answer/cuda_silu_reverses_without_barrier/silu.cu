// Elements go through shared memory to other threads, without a barrier.
// expect: __syncthreads()
// never: tl.
// base: accepted/cuda_silu_double
//-    if (i < n)
//+    __shared__ float room[256];
//+    int first = blockIdx.x * blockDim.x, count = min(256, n - first);
//+    if (i < n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        room[count - 1 - threadIdx.x] = x[i];
//+    if (i < n) {
//+        float v = room[threadIdx.x];
//+        y[first + count - 1 - threadIdx.x] = v / (1.0f + expf(-v));
//+    }
