// A parameter has an attribute, far behind its name.
// base: accepted/cuda_silu_plain
//-void silu(float *input, float *output, int n)
//+extern "C" void silu(float *input, float *output, int n        [[maybe_unused]])
