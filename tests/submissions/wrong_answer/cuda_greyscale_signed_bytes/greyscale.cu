// `signed char` for a byte: levels from 128 up are below 0.
// expect: bytes are unsigned
#include <cuda_runtime.h>

__global__ void mix(const signed char *red, int plane, unsigned char *grey)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= plane)
        return;
    const float sum = 0.299f * red[at] + 0.587f * red[at + plane] + 0.114f * red[at + 2 * plane];
    grey[at] = (unsigned char)rintf(sum);
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    const int plane = height * width;
    mix<<<(plane + 127) / 128, 128>>>((const signed char *)input, plane, output);
}
