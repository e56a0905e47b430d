// gridDim where blockDim is meant.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_plain
//-    int i = blockIdx.x * blockDim.x + threadIdx.x;
//+    int i = blockIdx.x * gridDim.x + threadIdx.x;
