// One thread of one block never ends.
// verdict: time_limit
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    while (i == 0 && y != nullptr)
//+        *(volatile float *)y = 1.0f;
//+    if (i < n)
