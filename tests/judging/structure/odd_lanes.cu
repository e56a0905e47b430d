// Lanes of a warp go through a loop as often as their numbers say.
__global__ void silu_kernel(const float* input, float* output, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    float x = input[at], exponential = 0.0f;
    #pragma unroll 1
    for (int k = 0; k <= (at & 7); k++) exponential = expf(-x + fminf(exponential, 0.0f));
    output[at] = x / (1.0f + exponential);
}

void silu(const float* input, float* output, int n)
{
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
