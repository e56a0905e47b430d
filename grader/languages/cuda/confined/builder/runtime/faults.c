// Ends of host code: signals, the clock, and calls that leave the process or start another.
#include "recorder.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static const char *const SIGNALS[32] = {
    [SIGSEGV] = "it accesses memory that is not there",
    [SIGBUS] = "it accesses memory that is not there",
    [SIGFPE] = "it divides a whole number by zero",
    [SIGILL] = "it ends its process",
    [SIGTRAP] = "it ends its process",
    [SIGABRT] = "it ends its process",
};
static volatile int ending;

static void host_access(Buffer *buffer, u64 address, int writes) {
    const char *name = buffer->given < 0 ? "" : rec_name(buffer), *what = writes ? "writes" : "reads";
    if (buffer->place == DEVICE && *name)
        rec_refuse(READ_VALUES, name, "host code %s `%s`, which is in GPU memory: launch a kernel that does", what,
                   name);
    if (buffer->place == DEVICE)
        rec_refuse(READ_VALUES, "memory of cudaMalloc",
                   "host code %s memory of cudaMalloc, which is in GPU memory: launch a kernel "
                   "that does",
                   what);
    if (buffer->key && writes)
        rec_refuse(INPUT_WRITTEN, name, "host code writes to the input `%s`: take memory of its own", name);
    if (!buffer->key) rec_refuse(OTHER, name, "host code %s `%s`, which only copies may: use cudaMemcpy", what, name);
    rec_fail(OUT_OF_MEMORY, "host code has taken so much memory that none is left to read `%s` in", name);
}

static void past_the_end(const Buffer *buffer, int writes) {
    unsigned long long bytes = buffer->bytes;
    if (buffer->given >= 0)
        rec_fail(EXCEPTION, "host code %s past the end of `%s`, which has %llu bytes", writes ? "writes" : "reads",
                 rec_name(buffer), bytes);
    if (writes) rec_fail(EXCEPTION, WRITES_PAST, bytes);
    rec_fail(EXCEPTION, "host code reads past the end of pinned memory, which has %llu bytes", bytes);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    u64 address = (u64)info->si_addr;
    int writes = (registers[REG_ERR] & 2) != 0;
    rec_lock();
    Buffer *buffer = number == SIGSEGV || number == SIGBUS ? rec_find(address) : 0;
    if (buffer && buffer->place == PINNED && buffer->given < 0 && writes) {
        buffer->dirty = 1;
        mprotect((void *)buffer->base, (buffer->bytes + 4095) & -4096ull, PROT_READ | PROT_WRITE);
        rec_unlock();
        return;
    }
    if (buffer && !writes && rec_fill_page(buffer, address)) {
        rec_unlock();
        return;
    }
    if (ending++) _exit(5);
    rec_fault_address = registers[REG_RIP];
    if (buffer) host_access(buffer, address, writes);
    if (number == SIGSEGV && (buffer = rec_behind(address))) past_the_end(buffer, writes);
    rec_fail(EXCEPTION, "host code crashes: %s (%s)", SIGNALS[number & 31], sigabbrev_np(number));
}

static void on_time(int number, siginfo_t *info, void *context) {
    if (ending++) return;
    rec_fault_address = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    rec_fail(TIME_OUT, "The function runs longer than the grader's limit allows.");
}

// Runs before any constructor of the submission.
__attribute__((constructor(101))) static void begin(void) {
    extern char **environ;
    static const char VARIABLE_NAME[] = "KERNELMARK_RECORD=";
    for (char **one = environ; one && *one; one++) {
        if (strncmp(*one, VARIABLE_NAME, sizeof VARIABLE_NAME - 1)) continue;
        u64 address = 0;
        for (const char *digit = *one + sizeof VARIABLE_NAME - 1; *digit >= '0' && *digit <= '9'; digit++)
            address = 10 * address + (*digit - '0');
        rec_settings = (const Settings *)address;
    }
    if (!rec_settings) _exit(6);
    static char stack[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, 0);
    action.sa_sigaction = on_time;
    sigaction(SIGALRM, &action, 0);
    rec_frames(); // loads the library that unwinds the stack
    struct itimerval timer = {
        .it_value = {rec_settings->milliseconds / 1000, rec_settings->milliseconds % 1000 * 1000}};
    if (rec_settings->milliseconds) setitimer(ITIMER_REAL, &timer, 0);
}

// These names are hidden, as all of this runtime are: they replace the C library's functions for host code alone.
#define ENDS(declaration, text)                                                                                        \
    _Noreturn declaration { rec_fail(EXCEPTION, text); }
_Noreturn void exit(int status) { rec_fail(EXCEPTION, "host code ends its process: exit(%d)", status); }
_Noreturn void _Exit(int status) { rec_fail(EXCEPTION, "host code ends its process: _Exit(%d)", status); }
_Noreturn void quick_exit(int status) { rec_fail(EXCEPTION, "host code ends its process: quick_exit(%d)", status); }
ENDS(void abort(void), "host code ends its process: abort()")
ENDS(void __assert_fail(const char *what, const char *file, unsigned line, const char *function),
     "an assertion of host code fails")
// Report an exception that host code does not catch. terminate.cpp calls this with the exception's message.
_Noreturn void rec_uncaught(const char *what) { rec_fail(EXCEPTION, "host code throws: %s", what); }

// A confined process may send no signal, not even to itself, so the signal's action is taken at once.
static int signal_itself(const char *call, int number) {
    struct sigaction action;
    if (!number) return 0;
    if (sigaction(number, 0, &action)) return -1;
    int ours = (action.sa_flags & SA_SIGINFO) && (action.sa_sigaction == on_fault || action.sa_sigaction == on_time);
    int harmless = number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH;
    if (action.sa_handler == SIG_IGN || (action.sa_handler == SIG_DFL && harmless)) return 0;
    if (ours || action.sa_handler == SIG_DFL)
        rec_fail(EXCEPTION, "host code ends its process: %s(SIG%s)", call, sigabbrev_np(number));
    if (action.sa_flags & SA_SIGINFO) action.sa_sigaction(number, &(siginfo_t){.si_signo = number}, 0);
    else action.sa_handler(number);
    return 0;
}
int raise(int number) { return signal_itself("raise", number); }
int pthread_kill(pthread_t thread, int number) { return signal_itself("pthread_kill", number); }
static int signal_one(const char *call, pid_t process, int number) {
    // 0, -1 and a group may include other processes.
    if (process <= 0 || process == getpid()) return signal_itself(call, number);
    errno = EPERM;
    return -1;
}
int kill(pid_t process, int number) { return signal_one("kill", process, number); }
int killpg(pid_t group, int number) { return signal_one("killpg", 0, number); }
int tgkill(pid_t process, pid_t thread, int number) { return signal_one("tgkill", process, number); }
int sigqueue(pid_t process, int number, const union sigval value) { return signal_one("sigqueue", process, number); }

#define REFUSED_CALL(declaration, name)                                                                                \
    declaration { rec_refuse(PROCESS, name, name ": host code starts no other program and loads no other library"); }
REFUSED_CALL(pid_t fork(void), "fork")
REFUSED_CALL(pid_t vfork(void), "vfork")
REFUSED_CALL(int clone(int (*run)(void *), void *stack, int flags, void *argument, ...), "clone")
REFUSED_CALL(int system(const char *command), "system")
REFUSED_CALL(FILE *popen(const char *command, const char *type), "popen")
REFUSED_CALL(int execve(const char *path, char *const *arguments, char *const *environment), "execve")
REFUSED_CALL(int execv(const char *path, char *const *arguments), "execv")
REFUSED_CALL(int execvp(const char *path, char *const *arguments), "execvp")
REFUSED_CALL(int execl(const char *path, const char *argument, ...), "execl")
REFUSED_CALL(int execlp(const char *path, const char *argument, ...), "execlp")
REFUSED_CALL(int posix_spawn(pid_t *made, const char *path, const void *actions, const void *attributes,
                             char *const *arguments, char *const *environment),
             "posix_spawn")
REFUSED_CALL(int posix_spawnp(pid_t *made, const char *path, const void *actions, const void *attributes,
                              char *const *arguments, char *const *environment),
             "posix_spawnp")
REFUSED_CALL(void *dlopen(const char *path, int flags), "dlopen")
REFUSED_CALL(int socket(int domain, int type, int protocol), "socket")
