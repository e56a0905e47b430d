// The index is an unsigned short, which ends at 65,535.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_plain
//-    int i = blockIdx.x * blockDim.x + threadIdx.x;
//+    unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;
