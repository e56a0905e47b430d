// Assembly closes the kernel, and opens another one.
// verdict: runtime_error, wrong_answer, needs_gpu
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    asm volatile("ret; }\n.visible .entry other(.param .u64 x) { .reg .u32 %r0;");
//+    if (i < n)
