// Assembly that jumps to itself, and between two labels.
// verdict: time_limit, runtime_error, wrong_answer, needs_gpu
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    asm volatile("{ AGAIN: bra.uni BACK; BACK: bra.uni AGAIN; }");
//+    if (i < n)
