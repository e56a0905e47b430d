# Sizes are said to be multiples of the block.
# expect: The assumption of tl.assume in line 9 does not hold
# base: wrong_answer/silu_empty_grid
#-def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+    tl.assume(n % BLOCK == 0)
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
