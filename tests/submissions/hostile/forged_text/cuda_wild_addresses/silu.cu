// The kernel loads from addresses that are numbers.
// verdict: runtime_error, needs_gpu, wrong_answer
// base: accepted/cuda_silu_double
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        for (unsigned long long at = 0x10000; at; at *= 2)
//+            y[i] = *(const volatile float *)at;
