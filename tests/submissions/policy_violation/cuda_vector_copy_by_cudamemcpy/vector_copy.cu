// No kernel: a copy within the device.
// expect: cop
#include <cuda_runtime.h>

void vector_copy(const float *input, float *output, int n)
{
    cudaMemcpy(output, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
