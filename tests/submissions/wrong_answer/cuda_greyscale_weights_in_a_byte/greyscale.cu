// The weighted sum, up to 65280, is kept in a byte.
// expect: Every element is 0
// expect: A byte holds no fraction and nothing beyond 255
// never: These lie between 0 and 1
#include <cuda_runtime.h>

__global__ void grey_kernel(const unsigned char *rgb, unsigned char *grey, int plane)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < plane) {
        unsigned char level = 77 * rgb[i] + 150 * rgb[plane + i] + 29 * rgb[2 * plane + i];
        grey[i] = level >> 8;
    }
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    int plane = height * width;
    grey_kernel<<<(plane + 255) / 256, 256>>>(input, output, plane);
}
