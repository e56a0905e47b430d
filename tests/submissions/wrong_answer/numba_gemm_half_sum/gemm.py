# The sum is kept in half precision.
# expect: were kept in fp16 on the way
# base: accepted/numba_gemm_element
#-from numba import cuda, float32
#+from numba import cuda, types
#
#-        total = float32(0)
#+        total = types.float16(0)
#
#-            total += float32(a[i, k]) * float32(b[k, j])
#+            total = types.float16(total + a[i, k] * b[k, j])
