# An assertion that only large sizes break.
# expect: At 4099x4093-extreme
# expect: tl.device_assert
# base: wrong_answer/silu_empty_grid
#-@triton.jit
#-def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+@triton.jit(debug=True)
#+def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+    tl.device_assert(n < 1000000, "n is large")
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
