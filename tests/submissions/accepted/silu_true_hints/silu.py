# What is promised of the offsets holds, whatever the sizes.
# never: not so
# base: wrong_answer/silu_empty_grid
#-def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#-    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+    first = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
#+    i = tl.max_contiguous(tl.multiple_of(first + tl.arange(0, BLOCK), BLOCK), BLOCK)
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
