# torch in a kernel.
# expect: torch is for host code
# base: accepted/numba_silu_flat
#-import math
#-
#+import math
#+
#+import torch
#
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = x[i] * torch.sigmoid(x[i])
