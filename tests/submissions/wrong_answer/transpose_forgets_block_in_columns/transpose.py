# The columns of a tile begin at tl.program_id(1), not at tl.program_id(1) * BLOCK.
# proved: line 12 makes every case right: a missing factor or divisor added
# never: exchanged
# never: the mask of
# base: transpose
#-def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
#-    m = tl.program_id(0) * T + tl.arange(0, T)
#-    n = tl.program_id(1) * T + tl.arange(0, T)
#+def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
#+    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    n = tl.program_id(1) + tl.arange(0, BLOCK)
#-    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
#+    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
