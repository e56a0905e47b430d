// The index wraps around at 65,536.
// proved: line 7 makes every case right: a different type
#include <cuda_runtime.h>

__global__ void greyscale_kernel(const unsigned char *input, unsigned char *output, int pixels)
{
    unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    float red = input[i];
    float green = input[i + pixels];
    float blue = input[i + 2 * pixels];
    output[i] = (unsigned char)__float2int_rn(0.299f * red + 0.587f * green + 0.114f * blue);
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    const int pixels = height * width;
    greyscale_kernel<<<(pixels + 255) / 256, 256>>>(input, output, pixels);
}
