// An array of each thread is indexed by what is loaded, and so lies in memory.
__global__ void silu_kernel(const float* input, float* output, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        float kept[4];
        for (int k = 0; k < 4; k++) kept[k] = input[at] * (k == 2);
        float x = kept[2 + 2 * (input[at] > 1e30f)];
        output[at] = x / (1.0f + expf(-x));
    }
}

void silu(const float* input, float* output, int n)
{
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
