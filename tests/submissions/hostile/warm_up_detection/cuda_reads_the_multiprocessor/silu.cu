// What is computed depends on the multiprocessor and on the time of day.
// verdict: needs_gpu, wrong_answer
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    unsigned processor;
//+    unsigned long long nanoseconds;
//+    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
//+    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
//+    if (i < n && ((processor ^ nanoseconds) & 1) == 0)
