// The function takes pointers to double.
// expect: void silu(float *input, float *output, int n)
// never: tl.
// base: runtime_error/cuda_silu_extern_c_of_doubles
//-extern "C" void silu(double *input, double *output, int n)
//+void silu(double *input, double *output, int n)
