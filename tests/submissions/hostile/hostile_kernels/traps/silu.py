# Ends the context with an instruction that is there for it, in the last program.
# verdict: runtime_error, policy_violation, needs_gpu
# needs: gpu
# on a gpu: runtime_error, time_limit; a driver may take seconds to tell of a trap
# base: hostile/injection/said_by_the_compiler
#-    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")
#+    pid = tl.program_id(0)
#+    offsets = pid * BLOCK + tl.arange(0, BLOCK)
#+    x = tl.load(x_ptr + offsets, mask=offsets < n)
#+    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
#+    if pid == tl.num_programs(0) - 1:
#+        tl.inline_asm_elementwise("trap; // $0 $1", "=r,r", [pid], dtype=tl.int32, is_pure=False, pack=1)
