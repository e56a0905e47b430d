// The total is a variable of the file: 0 at the start of the program, and never again.
// expect: keep something from one call to the next
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-__global__ void sum_kernel(const float *x, float *total, int n)
//+__device__ float total = 0.0f;
//+
//+__global__ void sum_kernel(const float *x, int n)
//
//-        atomicAdd(total, sums[0]);
//+        atomicAdd(&total, sums[0]);
//
//-__global__ void scale_kernel(const float *x, const float *weight, const float *total, float *y, int n, float epsilon)
//+__global__ void scale_kernel(const float *x, const float *weight, float *y, int n, float epsilon)
//
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] / sqrtf(total / n + epsilon);
//
//-    float *total;
//-    cudaMalloc(&total, sizeof(float));
//-    cudaMemset(total, 0, sizeof(float));
//
//-    sum_kernel<<<min(blocks, 256), THREADS>>>(input, total, cols);
//-    scale_kernel<<<blocks, THREADS>>>(input, weight, total, output, cols, epsilon);
//-    cudaFree(total);
//+    sum_kernel<<<min(blocks, 256), THREADS>>>(input, cols);
//+    scale_kernel<<<blocks, THREADS>>>(input, weight, output, cols, epsilon);
