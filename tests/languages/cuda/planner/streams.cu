#include <cuda_runtime.h>
__global__ void scale(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
#define ON(stream) scale<<<1, 64, 0, stream>>>(input, output, n)
#define STREAMS \
    cudaStream_t a, b, blocking; \
    cudaEvent_t e; \
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); \
    cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, -1); \
    cudaStreamCreate(&blocking); \
    cudaEventCreate(&e);

extern "C" {
void events(float *input, float *output, int n) {
    STREAMS
    ON(a); ON(b);                                               // 0, 1
    cudaEventRecord(e, a);
    ON(a);                                                      // 2
    cudaStreamWaitEvent(b, e, 0);
    ON(b);                                                      // 3
    cudaEventSynchronize(e);
    ON(0);                                                      // 4
    cudaDeviceSynchronize();
    ON(a);                                                      // 5
}
void default_stream(float *input, float *output, int n) {
    STREAMS
    ON(blocking); ON(0); ON(blocking); ON(a);                   // 0, 1, 2, 3
    cudaMemsetAsync(output, 0, 4, cudaStreamLegacy);            // 4
    ON(cudaStreamPerThread); ON(blocking);                      // 5, 6
    cudaStreamSynchronize(a);
    ON(b);                                                      // 7
}
void pinned(float *input, float *output, int n) {
    STREAMS
    float *p, pageable = 4;
    cudaMallocHost(&p, 4);
    auto copy = [&](float value) { *p = value; cudaMemcpyAsync(output, p, 4, cudaMemcpyHostToDevice, a); };
    copy(1); copy(2);                                           // 0, 1, 2, 3
    cudaStreamSynchronize(a);
    copy(3);                                                    // 4, 5
    *p = 5;
    cudaMemcpy(output, p, 4, cudaMemcpyHostToDevice);           // 6, 7
    ON(b);                                                      // 8
    cudaMemcpyAsync(output, &pageable, 4, cudaMemcpyHostToDevice, a); // 9
    ON(b);                                                      // 10
}
void graph(float *input, float *output, int n) {
    STREAMS
    cudaGraph_t g;
    cudaGraphExec_t made;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    ON(a);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    ON(b); ON(a);
    cudaEventRecord(e, b);
    cudaStreamWaitEvent(a, e, 0);
    cudaStreamEndCapture(a, &g);
    cudaGraphInstantiate(&made, g, 0);
    ON(b);                                                      // 0
    cudaGraphLaunch(made, a);                                   // 1, 2, 3
    ON(a);                                                      // 4
    ON(b);                                                      // 5
}
}
