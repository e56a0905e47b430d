#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cassert>
#include <csignal>
#include <dlfcn.h>
#include <stdexcept>
#include <thread>
#include <sys/random.h>
#include <unistd.h>
#include <vector>
extern "C" int cublasCreate_v2(void **);
__device__ float total;
__global__ void k(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
__global__ void __launch_bounds__(64) few(float *y) { y[threadIdx.x] = 0; }
__global__ void big(float *y) { extern __shared__ float s[]; s[0] = 1; y[0] = s[0]; }
__global__ void takes_memory(float **y) { y[0] = (float *)malloc(4); }
#define CHECK(call) do { if ((call) != cudaSuccess) { fprintf(stderr, "failed\n"); exit(1); } } while (0)
// A static function whose address is taken moves host code to a section of its own.
static int caught;
static void catches(int) { caught = 1; }

extern "C" {
void brings_back(float *x, float *y, int n) {
    std::vector<float> h(n);
    cudaMemcpy(h.data(), x, n * 4, cudaMemcpyDeviceToHost);
}
void brings_back_any(float *x, float *y, int n) { float h; cudaMemcpy(&h, x, 4, cudaMemcpyDefault); }
void from_symbol(float *x, float *y, int n) { float h; cudaMemcpyFromSymbol(&h, total, 4); }
void managed(float *x, float *y, int n) { float *m; cudaMallocManaged(&m, n * 4); }
void reads(float *x, float *y, int n) {
    for (int i = 0; i < n; i++)
        printf("%f", x[i]);
}
void reads_temporary(float *x, float *y, int n) { float *t; cudaMalloc(&t, 4); if (*t > 0) k<<<1, 1>>>(x, y, n); }
void copies(float *x, float *y, int n) { cudaMemcpy(y, x, n * 4, cudaMemcpyDeviceToDevice); }
void writes_input(float *x, float *y, int n) { cudaMemset(x, 0, n * 4); }
void library(float *x, float *y, int n) { void *h; cublasCreate_v2(&h); }
void driver(float *x, float *y, int n) { dlopen("libcuda.so.1", RTLD_NOW); }
void unknown(float *x, float *y, int n) { cudaArray_t a; cudaChannelFormatDesc d = {}; cudaMallocArray(&a, &d, 4); }
void forks(float *x, float *y, int n) { if (fork() == 0) k<<<1, 1>>>(x, y, n); }
void starts(float *x, float *y, int n) { if (system("true")) k<<<1, 1>>>(x, y, n); }
void registers_memory(float *x, float *y, int n) { cudaHostRegister(malloc(4), 4, 0); }
void deepens_the_stack(float *x, float *y, int n) {
    cudaDeviceSetLimit(cudaLimitStackSize, 1024);
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
}
void gives_clusters(float *x, float *y, int n) {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim = {2, 1, 1};
    c.gridDim = 2, c.blockDim = 32, c.attrs = a, c.numAttrs = 1;
    cudaLaunchKernelEx(&c, k, (const float *)x, y, n);
}

void launches_what_is_unplanned(float *x, float *y, int n) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, takes_memory, 32, 0);
    takes_memory<<<blocks, 1>>>((float **)y);
}
void leaves_it_out(float *x, float *y, int n) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, takes_memory, 32, 0);
    k<<<blocks, 1>>>(x, y, n);
}

void draws_lots(float *x, float *y, int n) {
    unsigned lot;
    getrandom(&lot, sizeof lot, 0);
    k<<<1 + lot % 1000, 1>>>(x, y, n);
}
void copies_lots(float *x, float *y, int n) {
    unsigned lots[2];
    getrandom(lots, sizeof lots, 0);
    cudaMemcpy(y, lots, sizeof lots, cudaMemcpyHostToDevice);
}

void too_many_threads(float *x, float *y, int n) {
    k<<<1, 2048>>>(x, y, n);
}
void no_blocks(float *x, float *y, int n) { k<<<0, 32>>>(x, y, n); }
void too_many_along_y(float *x, float *y, int n) { k<<<dim3(1, 70000), 32>>>(x, y, n); }
void too_deep(float *x, float *y, int n) { k<<<1, dim3(1, 1, 128)>>>(x, y, n); }
void beyond_bounds(float *x, float *y, int n) { few<<<1, 128>>>(y); }
void too_much_shared(float *x, float *y, int n) { big<<<1, 32, 60000>>>(y); }
void asks_too_much(float *x, float *y, int n) {
    cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);
}
void checked(float *x, float *y, int n) {
    k<<<1, 2048>>>(x, y, n);
    CHECK(cudaGetLastError());
}
void exits(float *x, float *y, int n) { exit(3); }
void aborts(float *x, float *y, int n) { abort(); }
void asserts(float *x, float *y, int n) { assert(n < 0); }
void throws(float *x, float *y, int n) { throw std::runtime_error("not today"); }
void out_of_range(float *x, float *y, int n) { std::vector<int> v(1); v.at(n) = 1; }
void crashes(float *x, float *y, int n) {
    int *p = nullptr;
    *p = 1;
}
void divides(float *x, float *y, int n) { volatile int zero = 0; k<<<1, n / zero>>>(x, y, n); }
void recurses(float *x, float *y, int n) { volatile char c[4096]; c[0] = 0; recurses(x, y, n + c[0]); c[1] = 1; }
void forever(float *x, float *y, int n) {
    for (volatile int i = 0; n > 0; i = i + 1) ;
}
void too_much_memory(float *x, float *y, int n) { float *t; cudaMalloc(&t, 1ull << 40); k<<<1, 1>>>(t, y, n); }
void used_after_free(float *x, float *y, int n) { float *t; cudaMalloc(&t, 4); cudaFree(t); k<<<1, 1>>>(t, y, n); }
void from_the_host(float *x, float *y, int n) { cudaMemcpy(y, x, 4, cudaMemcpyHostToDevice); }
void past_symbol(float *x, float *y, int n) { float h[2] = {}; cudaMemcpyToSymbol(total, h, 8); }
void short_pitch(float *x, float *y, int n) { cudaMemset2D(y, 2, 0, 4, 2); }
void no_such_device(float *x, float *y, int n) { cudaSetDevice(1); k<<<1, 1>>>(x, y, n); }
void without_end(float *x, float *y, int n) { for (;;) cudaMemset(y, 0, 4), cudaMemset(y, 1, 4); }
void in_a_thread(float *x, float *y, int n) { std::thread([=] { k<<<1, 2048>>>(x, y, n); }).join(); }
void kills_itself(float *x, float *y, int n) { raise(SIGKILL); }
void kills_its_group(float *x, float *y, int n) {
    signal(SIGTERM, SIG_IGN), raise(SIGTERM), raise(SIGCHLD);
    signal(SIGTERM, catches), raise(SIGTERM);
    signal(SIGTERM, SIG_DFL);
    if (caught) kill(0, SIGTERM);
}
void asks_after_another(float *x, float *y, int n) { if (kill(1, 0) || !raise(0)) cudaMemset(y, 0, 4); }
}
