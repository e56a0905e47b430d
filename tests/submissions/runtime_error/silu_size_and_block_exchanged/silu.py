# The launch passes the size where the kernel has its block.
# expect: powers of two only (here block = 
# expect: in another order than the kernel's parameters
# never: not reach
# base: silu
#-def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, n):
#
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, 1024)
