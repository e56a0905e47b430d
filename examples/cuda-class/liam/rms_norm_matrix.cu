// liam: one thread per row
#include <math.h>

__global__ void k(float *in, float *w, float *out, int rows, int cols, float eps) {
  int r = threadIdx.x + blockIdx.x * blockDim.x;
  if (r >= rows) return;
  double sum = 0;
  for (int c = 0; c < cols; c++) sum += (double)in[r * cols + c] * in[r * cols + c];
  float rms = sqrt(sum / cols + eps);
  for (int c = 0; c < cols; c++) out[r * cols + c] = in[r * cols + c] / rms * w[c];
}

void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon) {
  k<<<(rows + 63) / 64, 64>>>(input, weight, output, rows, cols, epsilon);
  cudaDeviceSynchronize();
}
