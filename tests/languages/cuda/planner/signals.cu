#include <cuda_runtime.h>
#include <csignal>

static int caught;
static void catches(int) { caught = 1; }

extern "C" {
void kills_itself(float *x, float *y, int n) { raise(SIGKILL); }
void kills_its_group(float *x, float *y, int n) {
    signal(SIGTERM, SIG_IGN), raise(SIGTERM), raise(SIGCHLD);
    signal(SIGTERM, catches), raise(SIGTERM);
    signal(SIGTERM, SIG_DFL);
    if (caught) kill(0, SIGTERM);
}
void asks_after_another(float *x, float *y, int n) { if (kill(1, 0) || !raise(0)) cudaMemset(y, 0, 4); }
}
