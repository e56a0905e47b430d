# Stores through a null pointer in the last program: the context is lost, and all that was in it.
# verdict: runtime_error
# needs: gpu
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    pid = tl.program_id(0)
#+    offsets = pid * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n)
#+    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
#+    if pid == tl.num_programs(0) - 1:
#+        nothing = (pid.to(tl.int64) * 0).to(tl.pointer_type(tl.float32))
#+        tl.store(nothing, 0.0)
