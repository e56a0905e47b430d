# Rows and columns both come from tl.program_id(0).
# expect: covers only the first 32
# never: axes are exchanged
# never: the mask of
# base: transpose
#-def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
#-    m = tl.program_id(0) * T + tl.arange(0, T)
#-    n = tl.program_id(1) * T + tl.arange(0, T)
#+def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
#+    pid_m = tl.program_id(0)
#+    pid_n = tl.program_id(0)
#+    m = pid_m * BLOCK + tl.arange(0, BLOCK)
#+    n = pid_n * BLOCK + tl.arange(0, BLOCK)
#-    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
#+    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
