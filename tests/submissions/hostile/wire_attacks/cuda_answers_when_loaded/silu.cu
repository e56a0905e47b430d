// A constructor writes answers into every descriptor, and ends the process.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+#include <cstring>
//+#include <unistd.h>
//+
//+__attribute__((constructor)) static void answer()
//+{
//+    const char text[] = "{\"op\": \"loaded\", \"skipped\": []}\n{\"op\": \"planned\", \"bytes\": 100}\n";
//+    for (int descriptor = 0; descriptor < 256; ++descriptor)
//+        if (write(descriptor, text, strlen(text)) < 0)
//+            continue;
//+    _exit(0);
//+}
//+
//+#include <cuda_runtime.h>
