// The channels are added as bytes, with whole weights.
// expect: mean of the three channels
// never: tl.
#include <cuda_runtime.h>

__global__ void grey_kernel(const unsigned char *rgb, unsigned char *grey, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int i = y * width + x;
        int plane = height * width;
        unsigned char sum = rgb[i] + rgb[plane + i] + rgb[2 * plane + i];
        grey[i] = sum / 3;
    }
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    dim3 threads(16, 16);
    dim3 blocks((width + 15) / 16, (height + 15) / 16);
    grey_kernel<<<blocks, threads>>>(input, output, height, width);
}
