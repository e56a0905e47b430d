// A kernel that asks the device for memory.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-    if (i < n)
//+    char *room = (char *)malloc(1 << 20);
//+    if (room != nullptr)
//+        room[i % 1024] = 1;
//+    if (i < 0)
