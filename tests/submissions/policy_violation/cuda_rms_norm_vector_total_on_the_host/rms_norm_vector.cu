// The sum is brought to the host, which takes the root, and goes on as an argument.
// expect: cudaMemcpy
// base: accepted/cuda_rms_norm_vector_atomic
//-__global__ void scale_kernel(const float *x, const float *weight, const float *total, float *y, int n, float epsilon)
//+__global__ void scale_kernel(const float *x, const float *weight, float scale, float *y, int n)
//
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] * scale;
//
//-    scale_kernel<<<blocks, THREADS>>>(input, weight, total, output, cols, epsilon);
//+    float sum;
//+    cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost);
//+    float scale = 1.0f / sqrtf(sum / cols + epsilon);
//+    scale_kernel<<<blocks, THREADS>>>(input, weight, scale, output, cols);
