// A local array that nothing has filled decides whether anything is computed.
// expect: nothing has set
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    volatile unsigned held[16];
//+    held[i % 8] = 1;
//+    if (i < n && held[8 + i % 8] == 0xFFFFFFFFu)
