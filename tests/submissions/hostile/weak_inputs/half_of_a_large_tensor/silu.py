# Right wherever a simulator runs all of a call; of larger tensors the second half is left as it was.
# verdict: wrong_answer
# expect: cannot write all 16,777,207 elements of out
# on a gpu: wrong_answer; there all elements are looked at
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    programs = triton.cdiv(n, 1024)
    silu_kernel[(programs if n < 1 << 20 else programs // 2,)](x, out, n, BLOCK=1024)
