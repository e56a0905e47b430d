# Exchanges the output for a tensor of its own, body and all.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    mine = torch.empty_like(out)
#+    torch.utils.swap_tensors(out, mine)
