# Gives the allocation of tensors without numbers another body, which makes real ones.
# verdict: policy_violation, runtime_error, wrong_answer
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+library = torch.library.Library("aten", "IMPL")
#+
#+
#+def empty(size, **options):
#+    return torch.zeros(size, device="cpu")
#+
#+
#+library.impl("empty.memory_format", lambda size, **options: empty(size), "Meta")
#-    out.copy_(graph(x))
#+    values = torch.empty(x.shape, device=x.device)
#+    out.copy_(values / (1 + torch.exp(-values)))
