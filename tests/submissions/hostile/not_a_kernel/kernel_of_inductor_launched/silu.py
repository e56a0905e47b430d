# Launches a template's kernel of Inductor's own, as if one had written it.
# verdict: policy_violation, runtime_error, wrong_answer
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    compiled = torch.compile(torch.nn.functional.silu, fullgraph=True)
#+    out.copy_(compiled(x))
