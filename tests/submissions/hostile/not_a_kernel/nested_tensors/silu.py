# Nested and sparse tensors have kernels of their own, where few look.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    rows = torch.nested.as_nested_tensor([x[0], x[0]])
#+    out[0].copy_(torch.nn.functional.silu(rows)[0])
