# A loop that the front end unrolls: a million times the same line.
# verdict: runtime_error, time_limit, memory_limit
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n)
#+    for turn in tl.static_range(1_000_000):
#+        x += 0.0 * turn
#+    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
