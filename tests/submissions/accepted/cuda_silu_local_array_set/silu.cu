// A local array of which each element is stored before it is read.
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    volatile unsigned held[16];
//+    for (int j = 0; j < 16; j++)
//+        held[(i + j) % 16] = j;
//+    if (i < n && held[i % 16] == 0)
