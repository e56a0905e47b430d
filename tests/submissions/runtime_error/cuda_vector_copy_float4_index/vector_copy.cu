// The index of a float4 counts floats.
// expect: the index of a vector counts vectors
// never: matrix
#include <cuda_runtime.h>

// 16 bytes per thread
__global__ void copy4(const float *__restrict__ in, float *__restrict__ out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i];
    } else {
        for (; i < n; ++i)
            out[i] = in[i];
    }
}

void vector_copy(float *input, float *output, int n)
{
    const int threads = 128;
    const int quads = (n + 3) / 4;
    copy4<<<(quads + threads - 1) / threads, threads>>>(input, output, n);
}
