// A graph of 1,000 launches, launched 100,000 times.
// verdict: time_limit, runtime_error, memory_limit
#include <cuda_runtime.h>

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int k = 0; k < 1000; ++k)
        silu_kernel<<<blocks, threads, 0, stream>>>(input, output, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int k = 0; k < 100000; ++k)
        cudaGraphLaunch(ready, stream);
}
