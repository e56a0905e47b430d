# Stores through a pointer made from a number: the simulator has no memory there, and a GPU most likely neither.
# expect: needs a GPU
# on a gpu: runtime_error; there it is an illegal access
# base: silu
#-def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu_kernel(x_ptr, out_ptr, address, n, BLOCK: tl.constexpr):
#+    wild = address.to(tl.int64).to(tl.pointer_type(tl.float32), bitcast=True)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(wild + offs, x * tl.sigmoid(x), mask=offs < n)
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(triton.cdiv(n, 1024),)](x, out, 4096, n, BLOCK=1024)
