// epsilon is written into the kernel.
// expect: 1e-5
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] / sqrtf(*total / n + 1e-5f);
