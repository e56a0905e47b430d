// A thread computes four rows that follow each other, and stores them as if they lay a block's height apart.
// expect: row 1 holds what belongs to row 4
// base: wrong_answer/cuda_gemm_register_tile_unset
//-    float acc[RM];
//+    float acc[RM] = {};
//
//-        if (row0 + r < M)
//-            C[(size_t)(row0 + r) * N + col] = __float2half(acc[r]);
//+    {
//+        int row = blockIdx.y * blockDim.y * RM + threadIdx.y + r * blockDim.y;
//+        if (row < M)
//+            C[(size_t)row * N + col] = __float2half(acc[r]);
//+    }
