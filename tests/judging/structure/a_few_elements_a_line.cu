// Each of 32 lines moves a small part, and each of them strides.
__global__ void silu_kernel(const float* input, float* output, int n)
{
    int threads = gridDim.x * blockDim.x, first = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    float x;
    (void)threads;
    if (first + 0 < n) { x = input[first + 0]; output[first + 0] = x / (1.0f + expf(-x)); }
    if (first + 1 < n) { x = input[first + 1]; output[first + 1] = x / (1.0f + expf(-x)); }
    if (first + 2 < n) { x = input[first + 2]; output[first + 2] = x / (1.0f + expf(-x)); }
    if (first + 3 < n) { x = input[first + 3]; output[first + 3] = x / (1.0f + expf(-x)); }
    if (first + 4 < n) { x = input[first + 4]; output[first + 4] = x / (1.0f + expf(-x)); }
    if (first + 5 < n) { x = input[first + 5]; output[first + 5] = x / (1.0f + expf(-x)); }
    if (first + 6 < n) { x = input[first + 6]; output[first + 6] = x / (1.0f + expf(-x)); }
    if (first + 7 < n) { x = input[first + 7]; output[first + 7] = x / (1.0f + expf(-x)); }
    if (first + 8 < n) { x = input[first + 8]; output[first + 8] = x / (1.0f + expf(-x)); }
    if (first + 9 < n) { x = input[first + 9]; output[first + 9] = x / (1.0f + expf(-x)); }
    if (first + 10 < n) { x = input[first + 10]; output[first + 10] = x / (1.0f + expf(-x)); }
    if (first + 11 < n) { x = input[first + 11]; output[first + 11] = x / (1.0f + expf(-x)); }
    if (first + 12 < n) { x = input[first + 12]; output[first + 12] = x / (1.0f + expf(-x)); }
    if (first + 13 < n) { x = input[first + 13]; output[first + 13] = x / (1.0f + expf(-x)); }
    if (first + 14 < n) { x = input[first + 14]; output[first + 14] = x / (1.0f + expf(-x)); }
    if (first + 15 < n) { x = input[first + 15]; output[first + 15] = x / (1.0f + expf(-x)); }
    if (first + 16 < n) { x = input[first + 16]; output[first + 16] = x / (1.0f + expf(-x)); }
    if (first + 17 < n) { x = input[first + 17]; output[first + 17] = x / (1.0f + expf(-x)); }
    if (first + 18 < n) { x = input[first + 18]; output[first + 18] = x / (1.0f + expf(-x)); }
    if (first + 19 < n) { x = input[first + 19]; output[first + 19] = x / (1.0f + expf(-x)); }
    if (first + 20 < n) { x = input[first + 20]; output[first + 20] = x / (1.0f + expf(-x)); }
    if (first + 21 < n) { x = input[first + 21]; output[first + 21] = x / (1.0f + expf(-x)); }
    if (first + 22 < n) { x = input[first + 22]; output[first + 22] = x / (1.0f + expf(-x)); }
    if (first + 23 < n) { x = input[first + 23]; output[first + 23] = x / (1.0f + expf(-x)); }
    if (first + 24 < n) { x = input[first + 24]; output[first + 24] = x / (1.0f + expf(-x)); }
    if (first + 25 < n) { x = input[first + 25]; output[first + 25] = x / (1.0f + expf(-x)); }
    if (first + 26 < n) { x = input[first + 26]; output[first + 26] = x / (1.0f + expf(-x)); }
    if (first + 27 < n) { x = input[first + 27]; output[first + 27] = x / (1.0f + expf(-x)); }
    if (first + 28 < n) { x = input[first + 28]; output[first + 28] = x / (1.0f + expf(-x)); }
    if (first + 29 < n) { x = input[first + 29]; output[first + 29] = x / (1.0f + expf(-x)); }
    if (first + 30 < n) { x = input[first + 30]; output[first + 30] = x / (1.0f + expf(-x)); }
    if (first + 31 < n) { x = input[first + 31]; output[first + 31] = x / (1.0f + expf(-x)); }
}

void silu(const float* input, float* output, int n)
{
    silu_kernel<<<(n + 256 * 32 - 1) / (256 * 32), 256>>>(input, output, n);
}
