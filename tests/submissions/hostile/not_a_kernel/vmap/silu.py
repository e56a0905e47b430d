# torch.func maps a function over rows: its wrappers stand between the operators and whoever looks.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    out.copy_(torch.func.vmap(lambda row: row / (1 + torch.exp(-row)))(x))
