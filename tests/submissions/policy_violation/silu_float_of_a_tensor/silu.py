# A parameter annotated `float` is given an element of x, whose number Python would have to read.
# expect: reads a number out of a tensor
# base: wrong_answer/silu_empty_grid
#-def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def kernel(x_ptr, out_ptr, n, first: float, BLOCK: tl.constexpr):
#-    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)
#+    tl.store(out_ptr + i, x * tl.sigmoid(x) + 0.0 * first, mask=i < n)
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), float(x[0, 0]), BLOCK=1024)
