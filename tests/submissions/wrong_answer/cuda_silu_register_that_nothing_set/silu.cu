// A register that nothing has set decides whether anything is computed.
// expect: nothing has set in line
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    unsigned held;
//+    asm volatile("{ .reg .u32 none; mov.u32 %0, none; }" : "=r"(held));
//+    if (i < n && held == 0xFFFFFFFFu)
