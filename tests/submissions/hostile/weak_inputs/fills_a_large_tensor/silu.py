# Right wherever a simulator runs all of a call; larger tensors are filled with ones.
# verdict: wrong_answer
# expect: No kernel is launched that could write out
# on a gpu: wrong_answer; there the ones are seen
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + i, mask=i < n)
#+    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)
#-    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
#+    if x.numel() > 1 << 20:
#+        out.fill_(1.0)
#+    else:
#+        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
