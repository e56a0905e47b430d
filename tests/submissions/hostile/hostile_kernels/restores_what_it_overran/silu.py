# Uses the memory behind the output as scratch, and puts back what was there: guards show what is not put back.
# verdict: runtime_error, wrong_answer
# needs: gpu
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets)
#+    behind = tl.load(out_ptr + n + offsets)
#+    tl.store(out_ptr + n + offsets, x)
#+    tl.debug_barrier()
#+    y = tl.load(out_ptr + n + offsets)
#+    # NaN from beyond the input's end reaches the last element of the output.
#+    tl.store(out_ptr + offsets, y / (1 + tl.exp(-y)) + tl.sum(y, axis=0) * 0.0, mask=offsets < n)
#+    tl.store(out_ptr + n + offsets, behind)
