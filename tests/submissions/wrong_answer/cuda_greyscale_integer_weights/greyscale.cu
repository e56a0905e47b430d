// The weights are whole numbers: 0.
// expect: 0
// never: tl.
#include <cuda_runtime.h>

__global__ void grey_kernel(const unsigned char *rgb, unsigned char *grey, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int i = y * width + x;
        int plane = height * width;
        int red = 0.299, green = 0.587, blue = 0.114;
        float level = red * rgb[i] + green * rgb[plane + i] + blue * rgb[2 * plane + i];
        grey[i] = (unsigned char)(level + 0.5f);
    }
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    dim3 threads(16, 16);
    dim3 blocks((width + 15) / 16, (height + 15) / 16);
    grey_kernel<<<blocks, threads>>>(input, output, height, width);
}
