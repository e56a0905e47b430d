// liam: one block does everything
#include <math.h>

__global__ void k(float *in, float *w, float *out, int n, float eps) {
  __shared__ double s[128];
  double mine = 0;
  for (int i = threadIdx.x; i < n; i += 128) mine += (double)in[i] * in[i];
  s[threadIdx.x] = mine;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < 128; i++) sum += s[i];
  float rms = sqrt(sum / n + eps);
  for (int i = threadIdx.x; i < n; i += 128) out[i] = in[i] / rms * w[i];
}

void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon) {
  k<<<1, 128>>>(input, weight, output, cols, epsilon);
  cudaDeviceSynchronize();
}
