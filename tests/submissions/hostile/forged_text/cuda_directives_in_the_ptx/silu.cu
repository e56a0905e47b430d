// Assembly with directives: another target, sections, variables outside all memory.
// verdict: runtime_error, wrong_answer, needs_gpu, memory_limit
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    asm volatile("{ .shared .align 16 .b8 room[1073741824]; }");
//+    asm volatile("{ .local .align 16 .b8 stack[1073741824]; }");
//+    asm volatile(".pragma \"nounroll\";");
//+    if (i < n)
