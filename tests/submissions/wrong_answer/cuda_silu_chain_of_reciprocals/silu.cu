// Sixty-four reciprocals of reciprocals give back what they began with, but for their errors.
// expect: `rcp.approx.f32` in line
// expect: only approximates
// base: accepted/cuda_silu_plain
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+    {
//+        float down = 1.0f + expf(-x[i]);
//+#pragma unroll
//+        for (int j = 0; j < 64; j++)
//+            asm volatile("rcp.approx.f32 %0, %0;" : "+f"(down));
//+        y[i] = x[i] / down;
//+    }
