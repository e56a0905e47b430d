# Sorts blocks of a million elements over and over: a network that is unrolled, and evaluated, at great length.
# verdict: runtime_error, time_limit, memory_limit
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    offsets = tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
#+    for _ in range(100_000):
#+        x = tl.sort(x)
#+    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
#-    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
#+    silu_kernel[(4096,)](x, out, x.numel(), BLOCK=1048576)
