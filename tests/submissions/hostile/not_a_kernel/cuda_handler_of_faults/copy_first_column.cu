// A handler of its own for faults gives the pages of the matrix contents of its own.
// verdict: wrong_answer, runtime_error, policy_violation
#include <csignal>
#include <cstdint>
#include <sys/mman.h>

#include <cuda_runtime.h>

static void handler(int, siginfo_t *info, void *)
{
    void *page = (void *)((uintptr_t)info->si_addr & ~4095ul);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    float *column;
    cudaMallocHost(&column, rows * sizeof(float));
    for (int i = 0; i < rows; ++i)
        column[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, column, rows * sizeof(float), cudaMemcpyHostToDevice);
}
