// The function has another name than the assignment asks for.
// expect: silu
// base: accepted/cuda_silu_const_input
//-void silu(const float *input, float *output, int n)
//+void solve(float *input, float *output, int n)
