// The mean is an int.
// expect: sum
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-    if (i < n)
//+    int mean = *total / n;
//+    if (i < n)
//
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] / sqrtf(mean + epsilon);
