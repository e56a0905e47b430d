# Tensor.map_ computes element by element without any operator of PyTorch's being dispatched.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    each = out.map_
#+    each(x, lambda _, v: v / (1 + 2.718281828459045 ** -v))
