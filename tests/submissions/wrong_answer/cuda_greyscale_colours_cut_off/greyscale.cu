// Each weighted colour loses its fraction before they are added.
// expect: a few levels too small
// expect: cut to a whole number
#include <cuda_runtime.h>

typedef unsigned char uchar;

__global__ void greyscale_kernel(const uchar *input, uchar *output, int pixels)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) {
        uchar red = 0.299f * input[p];
        uchar green = 0.587f * input[pixels + p];
        uchar blue = 0.114f * input[2 * pixels + p];
        output[p] = red + green + blue;
    }
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    int pixels = height * width;
    int blocks = (pixels + 255) / 256;
    greyscale_kernel<<<blocks, 256>>>(input, output, pixels);
}
