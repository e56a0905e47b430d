// One block, whatever n is.
// expect: never written
// never: tl.
// base: accepted/cuda_silu_plain
//-    int blocks = (n + threads - 1) / threads;
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<1, threads>>>(input, output, n);
