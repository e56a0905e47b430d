# A kernel prints markup, escapes of the terminal and marks that turn the text round, and its asserts say the same.
# verdict: runtime_error, wrong_answer
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n)
#+    tl.device_print("<script>alert(1)</script>\x1b[2J\x9b2J\u202e<img src=x onerror=alert(1)>", x)
#+    tl.device_assert(offsets < 0, "<script>alert(2)</script>\x1b[2J\u2066")
#+    tl.store(out_ptr + offsets, x, mask=offsets < n)
