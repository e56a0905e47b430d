// The total is set to 0 once, and the next call adds to it.
// expect: keep something from one call to the next
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-    float *total;
//-    cudaMalloc(&total, sizeof(float));
//-    cudaMemset(total, 0, sizeof(float));
//+    static float *total = nullptr;
//+    if (total == nullptr) {
//+        cudaMalloc(&total, sizeof(float));
//+        cudaMemset(total, 0, sizeof(float));
//+    }
//
//-    cudaFree(total);
