# The first loop leaves its pointers behind the row, and the second goes on from there.
# proved: missing before line 21: with it, every case is right
# base: accepted/rmsnorm_matrix_looped_row
#-    X += row * N
#+    at = X + row * N + tl.arange(0, BLOCK_N)
#
#-        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
#+        a = tl.load(at, mask=cols < N, other=0.0)
#+        at += BLOCK_N
#
#-        a = tl.load(X + cols, mask=cols < N, other=0.0)
#-        w = tl.load(W + cols, mask=cols < N)
#+        a = tl.load(at, mask=cols < N, other=0.0)
#+        at += BLOCK_N
#+        w = tl.load(W + cols, mask=cols < N)
