// Kernels of one element each: out[i] is an expression of a = x[i] and b = y[i].
#pragma once
#define ELEMENTS(name, In, Out, ...)                                                         \
  extern "C" __global__ void name(const In *x, const In *y, Out *out, int n) {               \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    if (i < n) {                                                                             \
      In a = x[i], b = y[i];                                                                 \
      out[i] = (__VA_ARGS__);                                                                \
    }                                                                                        \
  }
