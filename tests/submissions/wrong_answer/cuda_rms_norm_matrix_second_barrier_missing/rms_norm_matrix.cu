// The first thread puts the root into shared memory, and nobody waits for it.
// expect: __syncthreads()
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    float rms = sqrtf(sums[0] / cols + epsilon);
//+    __shared__ float rms;
//+    if (threadIdx.x == 0)
//+        rms = sqrtf(sums[0] / cols + epsilon);
