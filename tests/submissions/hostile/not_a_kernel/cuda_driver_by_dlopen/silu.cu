// The GPU's driver and runtime, opened by name.
// verdict: policy_violation, runtime_error
// base: hostile/attacking_the_grader/cuda_files_left_behind_from_cpp
//-#include <fstream>
//+#include <dlfcn.h>
//
//-    for (const char *name : {"/tmp/kernelmark-hostile-cuda", "/dev/shm/kernelmark-hostile-cuda",
//-                             "/var/tmp/kernelmark-hostile-cuda"})
//-        if (std::ofstream(name) << "silu")
//+    for (const char *name : {"libcuda.so.1", "libcuda.so", "libcudart.so.13", "libcublas.so.13", "libnvrtc.so.13"})
//+        if (dlopen(name, RTLD_NOW) != nullptr)
