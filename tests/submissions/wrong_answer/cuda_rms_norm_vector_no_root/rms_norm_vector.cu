// The root is forgotten.
// expect: square root is missing
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] / (*total / n + epsilon);
