# An operator's `out=` resizes what it is given: the output becomes another's memory.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    torch.as_strided_copy(x, (x.numel() * 4,), (1,), out=out)
