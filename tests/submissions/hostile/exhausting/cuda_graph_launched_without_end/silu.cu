// A graph of 1,000 launches, launched 100,000 times.
// verdict: time_limit, runtime_error, memory_limit
// base: accepted/cuda_silu_graph
//-    silu_kernel<<<blocks, threads, 0, stream>>>(input, output, n);
//+    for (int k = 0; k < 1000; ++k)
//+        silu_kernel<<<blocks, threads, 0, stream>>>(input, output, n);
//
//-    cudaGraphLaunch(ready, stream);
//-    cudaStreamSynchronize(stream);
//-    cudaGraphExecDestroy(ready);
//-    cudaGraphDestroy(graph);
//-    cudaStreamDestroy(stream);
//+    for (int k = 0; k < 100000; ++k)
//+        cudaGraphLaunch(ready, stream);
