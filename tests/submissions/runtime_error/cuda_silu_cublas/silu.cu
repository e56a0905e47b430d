// A library of NVIDIA's is called.
// expect: cublas
// never: tl.
#include <cublas_v2.h>

void silu(float *input, float *output, int n)
{
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasScopy(handle, n, input, 1, output, 1);
    cublasDestroy(handle);
}
