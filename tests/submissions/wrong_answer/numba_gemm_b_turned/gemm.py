# b is read as if turned.
# expect: b was read transposed
# base: accepted/numba_gemm_element
#-            total += float32(a[i, k]) * float32(b[k, j])
#+            total += float32(a[i, k]) * float32(b[j % b.shape[0], k % b.shape[1]])
