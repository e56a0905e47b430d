// Attaches to the process that started it, and asks to be traced.
// verdict: runtime_error
// expect: refused
// base: hostile/attacking_the_grader/cuda_kills_from_cpp
//-#include <csignal>
//
//-#include <unistd.h>
//+#include <sys/ptrace.h>
//+#include <unistd.h>
//
//-    return getppid() > 0 && kill(getppid(), SIGSTOP) == 0;
//+    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) {
//+        ptrace(PTRACE_DETACH, getppid(), 0, 0);
//+        return true;
//+    }
//+    return ptrace(PTRACE_TRACEME, 0, 0, 0) == 0;
