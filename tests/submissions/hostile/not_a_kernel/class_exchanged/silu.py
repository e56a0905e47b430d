# Gives the tensors another class, so that nobody asks what they run.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+class Mine(torch.Tensor):
#+    __torch_dispatch__ = torch._C._disabled_torch_dispatch_impl
#+    __torch_function__ = torch._C._disabled_torch_function_impl
#-    out.copy_(graph(x))
#+    x.__class__ = out.__class__ = Mine
#+    out.copy_(x / (1 + torch.exp(-x)))
