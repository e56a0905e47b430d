// The channels of a pixel are taken to stand side by side.
// expect: side by side
// never: tl.
#include <cuda_runtime.h>

__global__ void grey_kernel(const unsigned char *rgb, unsigned char *grey, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int i = y * width + x;
        float level = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
        grey[i] = (unsigned char)(level + 0.5f);
    }
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    dim3 threads(16, 16);
    dim3 blocks((width + 15) / 16, (height + 15) / 16);
    grey_kernel<<<blocks, threads>>>(input, output, height, width);
}
