#include <mma.h>
#include <cuda_pipeline.h>
__global__ void wide(const float4 *input, float4 *output, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    output[i] = input[i];
}
__global__ void tile(const float *input, float *output) {
  __shared__ float part[32][33];
  extern __shared__ float more[];
  part[threadIdx.y][threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = part[threadIdx.x][threadIdx.y] + more[0];
}
__global__ void fetch(const float4 *input, float4 *output) {
  __shared__ float4 part[64];
  __pipeline_memcpy_async(&part[threadIdx.x], &input[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  output[threadIdx.x] = part[63 - threadIdx.x];
}
__global__ void product(const half *a, const half *b, float *c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, row_major> y;
  fragment<accumulator, 16, 16, 16, float> z;
  fill_fragment(z, 0.f);
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  mma_sync(z, x, y, z);
  store_matrix_sync(c, z, 16, mem_row_major);
}
__global__ void much(float *output) {
  __shared__ float part[16384];
  part[threadIdx.x] = output[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = part[16383 - threadIdx.x];
}
