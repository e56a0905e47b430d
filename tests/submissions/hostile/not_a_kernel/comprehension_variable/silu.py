# A comprehension's variable has the name of a function, and is one only inside.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    [out.copy_(x / (1 + exp(-x))) for exp in (torch.exp,)]
