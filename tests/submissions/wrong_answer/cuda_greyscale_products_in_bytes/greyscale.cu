// Products of bytes are kept in bytes.
// expect: A byte holds no fraction and nothing beyond 255
// never: 1 divided by
// never: times the right one
#include <cuda_runtime.h>

typedef unsigned char byte;

__device__ byte luma(byte r, byte g, byte b)
{
    byte red = 77 * r, green = 150 * g, blue = 29 * b;
    return (red + green + blue) / 256;
}

__global__ void greyscale_kernel(const byte *input, byte *output, int pixels)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels)
        return;
    output[p] = luma(input[p], input[p + pixels], input[p + 2 * pixels]);
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    int pixels = height * width;
    greyscale_kernel<<<(pixels + 255) / 256, 256>>>(input, output, pixels);
}
