// The launch that reads the parts comes before the one that writes them.
// expect: nothing has written
// never: tl.
// base: accepted/cuda_rms_norm_vector_atomic
//-__global__ void sum_kernel(const float *x, float *total, int n)
//+__global__ void parts_kernel(const float *x, float *parts, int n)
//
//-        atomicAdd(total, sums[0]);
//+        parts[blockIdx.x] = sums[0];
//
//-__global__ void scale_kernel(const float *x, const float *weight, const float *total, float *y, int n, float epsilon)
//+__global__ void scale_kernel(const float *x, const float *weight, const float *parts, int count, float *y, int n,
//+                             float epsilon)
//
//-    int i = blockIdx.x * THREADS + threadIdx.x;
//+    float total = 0.0f;
//+    for (int part = 0; part < count; ++part)
//+        total += parts[part];
//+    int i = blockIdx.x * THREADS + threadIdx.x;
//
//-        y[i] = x[i] * weight[i] / sqrtf(*total / n + epsilon);
//+        y[i] = x[i] * weight[i] * rsqrtf(total / n + epsilon);
//
//-    float *total;
//-    cudaMalloc(&total, sizeof(float));
//-    cudaMemset(total, 0, sizeof(float));
//
//-    sum_kernel<<<min(blocks, 256), THREADS>>>(input, total, cols);
//-    scale_kernel<<<blocks, THREADS>>>(input, weight, total, output, cols, epsilon);
//-    cudaFree(total);
//+    int count = blocks < 64 ? blocks : 64;
//+    float *parts;
//+    cudaMalloc(&parts, count * sizeof(float));
//+    scale_kernel<<<blocks, THREADS>>>(input, weight, parts, count, output, cols, epsilon);
//+    parts_kernel<<<count, THREADS>>>(input, parts, cols);
//+    cudaFree(parts);
