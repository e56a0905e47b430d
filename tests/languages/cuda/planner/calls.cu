#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>
struct Pair { const float *from; float *to; int n; };
__device__ float total;
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void paired(Pair p) { int i = threadIdx.x; if (i < p.n) p.to[i] = p.from[i]; }
__global__ void add(const float *x, int n) {
    if (threadIdx.x < n) atomicAdd(&total, x[threadIdx.x] * table[threadIdx.x & 3]);
}
__global__ void tiled(const float *x, float *y, int n) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[0];
    y[0] = tile[0];
}
template <int B> __global__ void __launch_bounds__(B) bounded(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
}
#define BLOCKS (n + 255) / 256

extern "C" {
void plain(float *input, float *output, int n) { scale<<<BLOCKS, 256>>>(input, output, n); }
void halves(float *input, float *output, int n) {
    auto go = [&](int from, int to) { paired<<<1, 512>>>(Pair{input + from, output + from, to - from}); };
    go(0, n / 2);
    go(n / 2, n);
}
void temporary(float *input, float *output, int n) {
    float *t;
    cudaMalloc(&t, n * sizeof(float));
    scale<<<BLOCKS, 256>>>(input, t, n);
    cudaMemset(t, 0, 8);
    scale<<<BLOCKS, 256>>>(t, output, n);
    cudaFree(t);
}
void kept(float *input, float *output, int n) {
    static float *t = nullptr;
    if (!t) cudaMalloc(&t, n * sizeof(float));
    scale<<<BLOCKS, 256>>>(input, t, n);
    scale<<<BLOCKS, 256>>>(t, output, n);
}
void symbols(float *input, float *output, int n) {
    float zero = 0, four[] = {4, 3, 2, 1};
    cudaMemcpyToSymbol(total, &zero, sizeof zero);
    cudaMemcpyToSymbol(table, four, sizeof four);
    add<<<1, 256>>>(input, n);
}
void symbol_address(float *input, float *output, int n) {
    float *at;
    cudaGetSymbolAddress((void **)&at, total);
    cudaMemsetAsync(at, 0, 4);
    add<<<1, 256>>>(input, n);
}
void constants(float *input, float *output, int n) {
    std::vector<int> ramp(8);
    for (int i = 0; i < 8; i++) ramp[i] = i;
    int *t;
    cudaMalloc(&t, 32);
    cudaMemcpy(t, ramp.data(), 32, cudaMemcpyHostToDevice);
    scale<<<BLOCKS, 256>>>((float *)t, output, n);
}
void part_of_constants(float *input, float *output, int n) {
    int two[] = {7, 7, 9};
    int *t;
    cudaMalloc(&t, 32);
    cudaMemcpy(t + 1, two, 12, cudaMemcpyHostToDevice);
    scale<<<BLOCKS, 256>>>((float *)t, output, n);
}
void streams(float *input, float *output, int n) {
    cudaStream_t s[2];
    cudaEvent_t e;
    cudaEventCreate(&e);
    for (auto &one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    scale<<<BLOCKS, 256, 0, s[0]>>>(input, output, n);
    cudaEventRecord(e, s[0]);
    cudaStreamWaitEvent(s[1], e, 0);
    scale<<<BLOCKS, 256, 0, s[1]>>>(input, output, n);
    cudaStreamSynchronize(s[1]);
    float ms;
    cudaEventElapsedTime(&ms, e, e);
    printf("%f\n", ms);
}
void graph(float *input, float *output, int n) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    scale<<<BLOCKS, 256, 0, s>>>(input, output, n);
    cudaMemsetAsync(output, 0, 4, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&e, g, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(e, s);
}
void extended(float *input, float *output, int n) {
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(BLOCKS);
    c.blockDim = dim3(256);
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a;
    c.numAttrs = 1;
    cudaLaunchKernelEx(&c, scale, (const float *)input, output, n);
}
void cooperative(float *input, float *output, int n) {
    void *a[] = {&input, &output, &n};
    cudaLaunchCooperativeKernel((void *)scale, 2, 64, a, 0, 0);
}
void occupied(float *input, float *output, int n) {
    int blocks;
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0);
    scale<<<blocks * p.multiProcessorCount, 1024>>>(input, output, n);
}
void shared(float *input, float *output, int n) {
    cudaFuncSetAttribute(tiled, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    tiled<<<1, 32, 100000>>>(input, output, n);
}
void threads(float *input, float *output, int n) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) all.emplace_back([] { cudaSetDevice(0); });
    for (auto &one : all) one.join();
    scale<<<BLOCKS, 256>>>(input, output, n);
}
void tries_again(float *input, float *output, int n) {
    scale<<<1, 4096>>>(input, output, n);
    if (cudaGetLastError() != cudaSuccess) scale<<<BLOCKS, 256>>>(input, output, n);
}
void never_called(float *input, float *output, int n) {
    if (n < 0) cudaMallocManaged(&input, n);
    scale<<<BLOCKS, 256>>>(input, output, n);
}
void copies(float *input, float *output, int n) {
    cudaMemcpy(output, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(output, 8, input + 1, 16, 4, 10, cudaMemcpyDeviceToDevice);
}
void own_copy(float *input, float *output, int n) {
    float *t;
    cudaMallocAsync(&t, n * sizeof(float), 0);
    scale<<<BLOCKS, 256>>>(input, t, n);
    cudaMemcpyAsync(output, t, n * sizeof(float), cudaMemcpyDefault, 0);
    cudaFreeAsync(t, 0);
}
void pinned(float *input, float *output, int n) {
    float *p;
    cudaMallocHost(&p, 8);
    p[0] = p[1] = 3;
    scale<<<1, 2>>>(p, output, 2);
    p[1] = 4;
    scale<<<1, 2>>>(p, output, 2);
    cudaFreeHost(p);
}
void caught(float *input, float *output, int n) {
    try { throw std::runtime_error("no"); } catch (const std::exception &) { }
    bounded<64><<<1, 64>>>(input, output);
}
void two_dimensions(float *input, float *output, int n) {
    float *t;
    size_t pitch;
    cudaMallocPitch(&t, &pitch, 40, 10);
    cudaMemset2D(t, pitch, 255, 40, 10);
    scale<<<1, 10>>>(t, output, 10);
}
}
