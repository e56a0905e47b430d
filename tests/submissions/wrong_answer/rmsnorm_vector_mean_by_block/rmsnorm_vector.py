# The sum is divided by the size of the block.
# expect: divided by the size of the block
# never: triton.cdiv
# never: power of two
# base: rmsnorm_vector
#-    total = 0.0
#+    acc = tl.zeros((BLOCK,), dtype=tl.float32)
#-        total += tl.sum(x * x, axis=0)
#-    rms = tl.sqrt(total / n + eps)
#+        acc += x * x
#+    rms = tl.sqrt(tl.sum(acc, axis=0) / BLOCK + eps)
#-    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=2048)
#+    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=1024)
