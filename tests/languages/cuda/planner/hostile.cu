#include <cuda_runtime.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>
__global__ void k(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
extern "C" {
void rec_end(void);
void rec_call(int);
uint64_t rec_given(int, uint64_t, int, int);
extern char **environ;

void launches(float *x, float *y, int n) { k<<<1, 64>>>(x, y, n); }
void ends_early(float *x, float *y, int n) { rec_end(); k<<<1, 64>>>(x, y, n); }
void calls_more(float *x, float *y, int n) { for (int i = 0; i < 9; i++) rec_call(i); launches(x, y, n); }
void takes_more(float *x, float *y, int n) { launches((float *)rec_given(0, 1 << 20, 0, 1), y, n); }
void takes_unknown(float *x, float *y, int n) { rec_given(2, 4, 0, 1); launches(x, y, n); }
void writes_everywhere(float *x, float *y, int n) {
    std::vector<unsigned> noise(1 << 14, 0x01010101u);
    for (int file = 3; file < 300; file++) if (write(file, noise.data(), 4 * noise.size()) < 0) continue;
    launches(x, y, n);
}
void forges_a_record(float *x, float *y, int n) {
    unsigned record[] = {2, 0, 4, 0xfffffff0u, 1, 0, 2, 0, 3, 0, 4, 0};
    for (int file = 3; file < 300; file++) if (write(file, record, sizeof record) < 0) continue;
}
void forges_launches(float *x, float *y, int n) {
    unsigned record[4 + 18] = {5, 0, 9, 0};
    for (int i = 4; i < 22; i++) record[i] = 0xffffffffu;
    for (int file = 3; file < 300; file++) if (write(file, record, sizeof record) < 0) continue;
}
void floods(float *x, float *y, int n) {
    std::vector<char> noise(1 << 20, 0);
    for (;;) for (int file = 3; file < 300; file++) if (write(file, noise.data(), noise.size()) < 0) continue;
}
void closes_all(float *x, float *y, int n) { for (int file = 0; file < 300; file++) close(file); launches(x, y, n); }
void leaves_a_thread(float *x, float *y, int n) {
    std::thread([] { for (;;) ; }).detach();
    launches(x, y, n);
}
void leaves_a_process(float *x, float *y, int n) {
    if (syscall(SYS_fork) == 0) { sleep(6); syscall(SYS_exit_group, 0); }
    launches(x, y, n);
}
void ignores_signals(float *x, float *y, int n) {
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    for (volatile int i = 0;; i = i + 1) ;
}
void catches_faults(float *x, float *y, int n) {
    signal(SIGSEGV, [](int) { syscall(SYS_exit_group, 0); });
    *x = 1;
}
void kills_itself(float *x, float *y, int n) { kill(getpid(), SIGKILL); }
void leaves_silently(float *x, float *y, int n) { syscall(SYS_exit_group, 0); }
void leaves_a_loop(float *x, float *y, int n) { pthread_exit(nullptr); }
void maps_the_gpu(float *x, float *y, int n) {
    void *page = (void *)((uintptr_t)x & ~4095ull);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (x[0] == 0) launches(x, y, n);
}
void takes_all_memory(float *x, float *y, int n) { for (;;) memset(new char[1 << 28], 1, 1); }
void breaks_the_stack(float *x, float *y, int n) {
    char c[16];
    memset(c, 0x41, 4096);
    launches(x, y, n);
}
void breaks_the_heap(float *x, float *y, int n) { float *p = new float[4]; delete[] p; delete[] p; launches(x, y, n); }
void depends_on_chance(float *x, float *y, int n) {
    k<<<1 + getpid() % 50000, 64>>>(x, y, n);
}
void copies_chance(float *x, float *y, int n) {
    int id = getpid();
    cudaMemcpy(y, &id, 4, cudaMemcpyHostToDevice);
}
}
