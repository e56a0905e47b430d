# A constant of the kernel is worked out from random numbers at the top of the file.
# expect: `SCALE` is not defined: line 7, which defines it, was skipped, since tensors have no values while a file is imported
# base: runtime_error/silu_tanh_of_another_version
#-from triton.language.math import tanh
#+
#+SCALE = torch.rand(8).argmin().item()
#-def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu_kernel(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
#-    tl.store(out_ptr + offsets, x * (0.5 + 0.5 * tanh(0.5 * x)), mask=mask)
#+    tl.store(out_ptr + offsets, x * tl.sigmoid(x + 0 * scale), mask=mask)
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, SCALE, BLOCK=1024)
