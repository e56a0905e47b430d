// Reads the memory of the process that started it.
// verdict: runtime_error
// expect: refused
// base: hostile/attacking_the_grader/cuda_kills_from_cpp
//-#include <csignal>
//
//-#include <unistd.h>
//+#include <sys/types.h>
//+#include <sys/uio.h>
//+#include <unistd.h>
//
//-    return getppid() > 0 && kill(getppid(), SIGSTOP) == 0;
//+    char byte;
//+    iovec own = {&byte, 1}, other = {(void *)&attack, 1};
//+    return process_vm_readv(getppid(), &own, 1, &other, 1, 0) == 1 || process_vm_readv(1, &own, 1, &other, 1, 0) == 1;
