// liam: simple version first
#include <math.h>

__global__ void k(float *in, float *out, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  double x = in[i];
  out[i] = x / (1.0 + exp(-x));
}

void silu(float *input, float *output, int n) {
  k<<<(n + 31) / 32, 32>>>(input, output, n);
  cudaDeviceSynchronize();
}
