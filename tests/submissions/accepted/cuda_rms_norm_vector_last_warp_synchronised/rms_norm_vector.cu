// The same with __syncwarp() between loads and stores.
// base: accepted/cuda_rms_norm_vector_volatile_last_warp
//-        for (int half = 32; half > 0; half /= 2)
//-            last[t] = last[t] + last[t + half];
//+        for (int half = 32; half > 0; half /= 2) {
//+            const float sum = last[t] + last[t + half];
//+            __syncwarp();
//+            last[t] = sum;
//+            __syncwarp();
//+        }
