// The block is missing from the index: each block writes the first 256 elements.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_plain
//-    int i = blockIdx.x * blockDim.x + threadIdx.x;
//+    int i = threadIdx.x;
