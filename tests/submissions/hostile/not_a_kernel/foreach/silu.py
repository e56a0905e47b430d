# PyTorch's functions for lists of tensors, whose names hardly anybody knows.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    (values,) = torch._foreach_sigmoid([x])
#+    torch._foreach_mul_([out], [values])
