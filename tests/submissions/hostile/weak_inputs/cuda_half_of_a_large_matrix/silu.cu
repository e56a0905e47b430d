// Only every second element of a large input is computed, the others are copied from their neighbours.
// verdict: wrong_answer
// base: accepted/cuda_silu_double
//-    if (i < n)
//+    int j = n > 100000 ? i / 2 * 2 : i;
//+    if (i < n)
//
//-        y[i] = (float)((double)x[i] / (1.0 + exp(-(double)x[i])));
//+        y[i] = x[j] / (1.0f + expf(-x[j]));
