// Eight warps leave their sums, and 32 are added: the others hold anything.
// expect: in line 23
// expect: sums
// expect: nothing has written
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    __shared__ float sums[THREADS];
//+    __shared__ float sums[32];
//
//-    sums[threadIdx.x] = sum;
//+    for (int lane = 16; lane > 0; lane /= 2)
//+        sum += __shfl_down_sync(0xffffffff, sum, lane);
//+    if (threadIdx.x % 32 == 0)
//+        sums[threadIdx.x / 32] = sum;
//
//-    for (int half = THREADS / 2; half > 0; half /= 2) {
//-        if (threadIdx.x < half)
//-            sums[threadIdx.x] += sums[threadIdx.x + half];
//-        __syncthreads();
//-    }
//-    float rms = sqrtf(sums[0] / cols + epsilon);
//+    sum = sums[threadIdx.x % 32];
//+    for (int lane = 16; lane > 0; lane /= 2)
//+        sum += __shfl_xor_sync(0xffffffff, sum, lane);
//+    float rms = sqrtf(sum / cols + epsilon);
