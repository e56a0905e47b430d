// Each block waits for the next one, by a variable of the file.
// verdict: time_limit, wrong_answer
// base: accepted/cuda_silu_table
//-__constant__ float signs[2] = {1.0f, -1.0f};
//+__device__ volatile int arrived;
//
//-    if (i < n)
//+    if (threadIdx.x == 0 && blockIdx.x == 0)
//+        while (arrived == 0)
//+            ;
//+    if (i < n)
//
//-        y[i] = x[i] / (1.0f + expf(signs[1] * x[i] * signs[0]));
//+        y[i] = x[i] / (1.0f + expf(-x[i]));
