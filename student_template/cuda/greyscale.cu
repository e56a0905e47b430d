// Greyscale: output = 0.299 red + 0.587 green + 0.114 blue, rounded to the nearest level.
//
// input: three planes of height·width bytes, red, green and blue; output: height·width bytes; both on the device, any
// sizes from 1 on. Write into output, which arrives full of one arbitrary byte; leave input alone.

#include <cuda_runtime.h>

__global__ void greyscale_kernel(const unsigned char *input, unsigned char *output, int pixels)
{
    // 1. Which pixel is this thread's, and does it exist?
    // 2. Load its red, green and blue. How far is one plane from the next?
    // 3. Compute in float. Add 0.5 before you cut the fraction off, and store.
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    // How many blocks of 256 threads are needed for height · width pixels? Launch as greyscale_kernel<<<blocks,
    // 256>>>(...).
    // not written yet: greyscale
}
