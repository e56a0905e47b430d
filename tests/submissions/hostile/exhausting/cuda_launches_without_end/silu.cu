// Launches the kernel for ever.
// verdict: time_limit, runtime_error
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    for (;;)
//+        silu_kernel<<<blocks, threads>>>(input, output, n);
