// The launch gives the number of threads first, then that of blocks.
// proved: line 17 makes every case right: two parts exchanged
// never: tl.
// base: accepted/cuda_silu_plain
//-    int i = blockIdx.x * blockDim.x + threadIdx.x;
//+    int i = blockIdx.x * 256 + threadIdx.x;
//
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<threads, blocks>>>(input, output, n);
