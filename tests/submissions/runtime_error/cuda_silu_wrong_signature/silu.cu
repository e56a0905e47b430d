// The parameters stand in another order.
// expect: void silu(float *input, float *output, int n)
// never: tl.
// base: accepted/cuda_silu_const_input
//-void silu(const float *input, float *output, int n)
//+void silu(float *input, int n, float *output)
