// A header of the student's own, which is not handed in.
// expect: my_helpers.h
// never: tl.
// base: accepted/cuda_silu_table
//-__constant__ float signs[2] = {1.0f, -1.0f};
//+#include "my_helpers.h"
//
//-        y[i] = x[i] / (1.0f + expf(signs[1] * x[i] * signs[0]));
//+        y[i] = x[i] / (1.0f + expf(-x[i]));
