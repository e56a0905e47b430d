# The file's lines end in different ways: the separators that Unicode has. Who reads it line by line, in another way than Python,
# would find another kernel at the lines that Triton asks for.
# verdict: wrong_answer, runtime_error
# base: hostile/injection/said_by_the_compiler
#-# shared: triton
#+import triton
#+import triton.language as tl
#+# one  two  three four
#+
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n)
#+    tl.store(out_ptr + offsets, x, mask=offsets < n)
