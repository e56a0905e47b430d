// Greyscale of an RGB picture of three planes: output = 0.299 · red + 0.587 · green + 0.114 · blue, to the nearest
// level.
//
// Bytes that must move: 3·height·width in and height·width out. A byte for each thread would leave most of the memory's
// rate unused: a thread moves 8 pixels, three loads and one store of 8 bytes, where the planes begin on 8 bytes.

#include <cstdint>

#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WIDE = 8;
// In thousandths nothing is rounded before the end. The division by a constant becomes a product.
constexpr uint32_t RED = 299, GREEN = 587, BLUE = 114, WHOLE = 1000;

__device__ __forceinline__ uint32_t grey_of(uint32_t red, uint32_t green, uint32_t blue)
{
    return (RED * red + GREEN * green + BLUE * blue + WHOLE / 2) / WHOLE;
}

// Four pixels, a byte each.
__device__ __forceinline__ uint32_t four_of(uint32_t red, uint32_t green, uint32_t blue)
{
    uint32_t grey = 0;
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8)
        grey |= grey_of(red >> shift & 255, green >> shift & 255, blue >> shift & 255) << shift;
    return grey;
}

__global__ void __launch_bounds__(THREADS)
greyscale_wide_kernel(const uint2 *__restrict__ input, uint2 *__restrict__ output, size_t wides)
{
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= wides)
        return;
    const uint2 red = input[i], green = input[wides + i], blue = input[2 * wides + i];
    output[i] = make_uint2(four_of(red.x, green.x, blue.x), four_of(red.y, green.y, blue.y));
}

__global__ void __launch_bounds__(THREADS)
greyscale_kernel(const unsigned char *__restrict__ input, unsigned char *__restrict__ output, size_t pixels)
{
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < pixels)
        output[i] = static_cast<unsigned char>(grey_of(input[i], input[pixels + i], input[2 * pixels + i]));
}

void greyscale(const unsigned char *input, unsigned char *output, int height, int width)
{
    const size_t pixels = size_t(height) * width;
    if (pixels % WIDE == 0) {
        const size_t wides = pixels / WIDE;
        greyscale_wide_kernel<<<(wides + THREADS - 1) / THREADS, THREADS>>>(
            reinterpret_cast<const uint2 *>(input), reinterpret_cast<uint2 *>(output), wides);
    } else {
        greyscale_kernel<<<(pixels + THREADS - 1) / THREADS, THREADS>>>(input, output, pixels);
    }
}
