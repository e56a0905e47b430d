// The last steps of the tree are left to one warp, without __syncwarp.
// expect: constant factor of its own
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    for (int half = THREADS / 2; half > 0; half /= 2) {
//+    for (int half = THREADS / 2; half > 32; half /= 2) {
//
//-    float rms = sqrtf(sums[0] / cols + epsilon);
//+    if (threadIdx.x < 32)
//+        for (int half = 32; half > 0; half /= 2)
//+            sums[threadIdx.x] += sums[threadIdx.x + half];
//+    __syncthreads();
//+    float rms = sqrtf(sums[0] / cols + epsilon);
