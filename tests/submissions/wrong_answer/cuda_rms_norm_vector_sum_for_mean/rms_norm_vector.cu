// The sum is not divided by n.
// expect: divide it by N
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] / sqrtf(*total + epsilon);
