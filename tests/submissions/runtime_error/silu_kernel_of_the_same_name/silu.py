# Kernel and host function have one name, and the later one takes it.
# expect: silu is no kernel here
# expect: give the kernel another name
# never: decorator
# base: silu
#-def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
