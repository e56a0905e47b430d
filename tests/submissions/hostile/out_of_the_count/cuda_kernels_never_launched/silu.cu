// A wrong kernel, and beside it kernels that no plan can have, which nothing launches.
// verdict: wrong_answer
// expect: x itself
// base: accepted/cuda_silu_plain
//-__global__ void silu_kernel(const float *x, float *y, int n)
//+__global__ void __cluster_dims__(2, 1, 1) clusters(float *y) { y[0] = 1; }
//+__device__ float outside(float x);
//+__global__ void calls_outside(float *y) { y[0] = outside(y[0]); }
//+__global__ void stops(float *y) { asm volatile("brkpt;"); y[0] = 1; }
//+__global__ void counts(float *y) { asm volatile("pmevent 1;"); y[0] = 1; }
//+__global__ void reads_texture(float *y, cudaTextureObject_t from) { y[0] = tex1Dfetch<float>(from, 1); }
//+__device__ float row[2];
//+__device__ float *rows[1] = {row};
//+__global__ void follows(float *y) { y[0] = rows[0][1]; }
//+__global__ void takes(float **y) { y[0] = (float *)malloc(4); }
//+__global__ void silu_kernel(const float *x, float *y, int n)
//
//-        y[i] = x[i] / (1.0f + expf(-x[i]));
//+        y[i] = x[i];
