// A constructor closes every descriptor.
// verdict: runtime_error
// base: hostile/forged_verdict/cuda_exits_when_loaded
//-__attribute__((constructor)) static void leave()
//+__attribute__((constructor)) static void shut()
//
//-    _exit(0);
//+    for (int descriptor = 0; descriptor < 1024; ++descriptor)
//+        close(descriptor);
