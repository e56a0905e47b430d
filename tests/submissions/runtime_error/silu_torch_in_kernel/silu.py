# A PyTorch call inside a jit function.
# expect: triton.language only
# base: silu
#-# shared: triton
#+import torch
#+# shared: triton
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x * torch.sigmoid(x), mask=offs < n)
