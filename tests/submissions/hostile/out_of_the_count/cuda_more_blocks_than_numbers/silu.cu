// A kernel that is wrong at large sizes, where it has more blocks than 31 bits count.
// verdict: wrong_answer
// base: accepted/cuda_silu_plain
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+        y[i] = n < 1000000 ? x[i] / (1.0f + expf(-x[i])) : x[i];
//
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//+    silu_kernel<<<n < 1000000 ? dim3(blocks) : dim3(blocks, 65535, 65535), threads>>>(input, output, n);
