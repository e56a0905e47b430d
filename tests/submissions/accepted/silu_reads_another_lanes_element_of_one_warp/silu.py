# Each program, of one warp, turns its block around in scratch memory, without a barrier.
# expect: The load in line 15 reads elements of
# expect: Triton does not promise it
# base: wrong_answer/silu_reads_another_lanes_element
#-    silu_kernel[(triton.cdiv(x.numel(), 256),)](x, torch.empty_like(x), out, x.numel(), BLOCK=256)
#+    silu_kernel[(triton.cdiv(x.numel(), 256),)](x, torch.empty_like(x), out, x.numel(), BLOCK=256, num_warps=1)
