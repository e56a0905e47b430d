// From the second call on, nothing is launched.
// verdict: wrong_answer
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    static int calls = 0;
//+    if (++calls == 1)
//+        silu_kernel<<<blocks, threads>>>(input, output, n);
