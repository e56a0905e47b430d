# Takes the dispatch of the planner's tensors away from their class.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    for kind in type(x).__mro__:
#+        for name in ("__torch_dispatch__", "__torch_function__"):
#+            try:
#+                setattr(kind, name, classmethod(lambda cls, function, types, args=(), kwargs=None: args[0]))
#+            except (AttributeError, TypeError):
#+                pass
#+    out.copy_(x / (1 + torch.exp(-x)))
