// Blocks compute where one multiprocessor runs them, and no other.
// expect: the number of a multiprocessor
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    unsigned processor;
//+    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
//+    if (i < n && processor == 0)
