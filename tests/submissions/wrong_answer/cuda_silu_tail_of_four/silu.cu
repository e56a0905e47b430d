// Four elements a thread, and the last ones, no whole four, are left out.
// expect: never written
// never: tl.
// base: runtime_error/cuda_silu_tail_of_four_overrun
//-    int quads = (n + 3) / 4;
//-    silu_kernel<<<(quads + 255) / 256, 256>>>((float4 *)input, (float4 *)output, quads);
//+    int quads = n / 4;
//+    if (quads > 0)
//+        silu_kernel<<<(quads + 255) / 256, 256>>>((float4 *)input, (float4 *)output, quads);
