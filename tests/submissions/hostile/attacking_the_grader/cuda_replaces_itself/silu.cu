// Becomes another program.
// verdict: policy_violation, runtime_error
// base: hostile/attacking_the_grader/cuda_kills_from_cpp
//-#include <csignal>
//
//-    return getppid() > 0 && kill(getppid(), SIGSTOP) == 0;
//+    execl("/bin/sh", "sh", "-c", "exit 0", (char *)nullptr);
//+    return false;
