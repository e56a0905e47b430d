// The tree leaves 64 sums, of which the last warp takes 32.
// expect: times the right one
// never: tl.
// proved: a different comparison
// base: accepted/cuda_rms_norm_vector_atomic
//-    for (int half = THREADS / 2; half > 0; half /= 2) {
//+    for (int half = THREADS / 2; half > 32; half >>= 1) {
//
//-    if (threadIdx.x == 0)
//-        atomicAdd(total, sums[0]);
//+    if (threadIdx.x < 32) {
//+        sum = sums[threadIdx.x];
//+        for (int lane = 16; lane > 0; lane /= 2)
//+            sum += __shfl_down_sync(0xffffffff, sum, lane);
//+        if (threadIdx.x == 0)
//+            atomicAdd(total, sum);
//+    }
