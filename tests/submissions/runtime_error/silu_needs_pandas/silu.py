# The block size comes from a table of pandas', which is not there when it is graded.
# expect: pandas
# on a gpu: runtime_error, accepted; its machine may have pandas
# base: wrong_answer/silu_empty_grid
#-# shared: triton
#+import pandas as pd
#+# shared: triton
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    sizes = pd.Series({"small": 256, "large": 4096})
#+    kernel[(triton.cdiv(x.numel(), int(sizes["large"])),)](x, out, x.numel(), BLOCK=int(sizes["large"]))
