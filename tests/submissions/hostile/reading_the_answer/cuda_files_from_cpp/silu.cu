// Opens files of root's, of the grader and of other processes; it reads none of what they hold.
// verdict: runtime_error
// expect: refused
// base: hostile/attacking_the_grader/cuda_files_left_behind_from_cpp
//-    for (const char *name : {"/tmp/kernelmark-hostile-cuda", "/dev/shm/kernelmark-hostile-cuda",
//-                             "/var/tmp/kernelmark-hostile-cuda"})
//-        if (std::ofstream(name) << "silu")
//+    for (const char *name : {"/etc/shadow", "/root/.bash_history", "/root/.ssh/id_rsa", "/proc/1/environ", "/proc/1/mem",
//+                             "assignments/silu/assignment.py", "reference/cuda/silu.cu", "../reference/silu.py"})
//+        if (std::ifstream(name).good())
