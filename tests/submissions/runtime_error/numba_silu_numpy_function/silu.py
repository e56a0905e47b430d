# NumPy on whole arrays.
# expect: A kernel makes no arrays
# base: accepted/numba_silu_flat
#-import math
#-
#+import math
#+
#+import numpy as np
#
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = (x / (1 + np.exp(-x)))[i]
