// As many threads as columns: the last warp is not full, and its sum is not counted.
// expect: is not full
// never: last columns
// proved: a different number of threads
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//-        sum += x[j] * x[j];
//-    sums[threadIdx.x] = sum;
//+    for (int j = threadIdx.x; j < cols; j += blockDim.x)
//+        sum += x[j] * x[j];
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
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//+    sum = 0.0f;
//+    for (int warp = 0; warp < blockDim.x / 32; ++warp)
//+        sum += sums[warp];
//+    float rms = sqrtf(sum / cols + epsilon);
//+    for (int j = threadIdx.x; j < cols; j += blockDim.x)
//
//-    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
//+    rms_norm_kernel<<<rows, min(cols, THREADS)>>>(input, weight, output, cols, epsilon);
