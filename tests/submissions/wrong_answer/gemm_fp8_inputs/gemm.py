# Rounds its inputs to fp8 before the product, for speed: three bits of each number remain.
# expect: 8-bit floats
# never: stride
# base: runtime_error/gemm_fp8_that_is_not_there
#-        acc += tl.dot(rows.to(tl.float8e4m3), columns.to(tl.float8e4m3))
#+        acc += tl.dot(rows.to(tl.float8e4nv), columns.to(tl.float8e4nv))
