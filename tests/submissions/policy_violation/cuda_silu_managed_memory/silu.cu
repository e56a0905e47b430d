// Managed memory, which the host could read.
// expect: cudaMallocManaged
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    float *copy;
//+    cudaMallocManaged(&copy, n * sizeof(float));
//+    silu_kernel<<<blocks, threads>>>(input, copy, n);
//+    cudaDeviceSynchronize();
//+    for (int i = 0; i < n; ++i)
//+        copy[i] += 0.0f;
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
