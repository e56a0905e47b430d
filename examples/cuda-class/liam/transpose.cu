// liam: no shared memory yet
__global__ void k(const float *in, float *out, int rows, int cols) {
  int r = threadIdx.x + blockIdx.x * blockDim.x;
  int c = threadIdx.y + blockIdx.y * blockDim.y;
  if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
}

void transpose(const float *input, float *output, int rows, int cols) {
  dim3 threads(16, 16);
  dim3 blocks((rows + 15) / 16, (cols + 15) / 16);
  k<<<blocks, threads>>>(input, output, rows, cols);
  cudaDeviceSynchronize();
}
