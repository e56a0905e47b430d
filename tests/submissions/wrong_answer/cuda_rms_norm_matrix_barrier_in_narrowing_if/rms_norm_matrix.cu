// The tree's barrier stands in its `if`, so threads that add nothing more do not come by.
// expect: and no __syncthreads() orders them
// expect: come by the __syncthreads() in line 23
// expect: take it out of the `if`
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-        if (threadIdx.x < half)
//-            sums[threadIdx.x] += sums[threadIdx.x + half];
//-        __syncthreads();
//+        if (threadIdx.x < half) {
//+            sums[threadIdx.x] += sums[threadIdx.x + half];
//+            __syncthreads();
//+        }
