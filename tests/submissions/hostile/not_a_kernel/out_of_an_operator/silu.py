# The `out=` of an operator that looks like a view.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    torch.sigmoid(x, out=out)
