# A subclass of tensors answers every operator itself and says it did.
# verdict: time_limit, wrong_answer, policy_violation, runtime_error
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+class Mine(torch.Tensor):
#+    @classmethod
#+    def __torch_function__(cls, function, types, args=(), kwargs=None):
#+        return args[0]
#+
#+    @classmethod
#+    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
#+        return args[0]
#-    out.copy_(graph(x))
#+    x, out = x.as_subclass(Mine), out.as_subclass(Mine)
#+    out.copy_(x / (1 + torch.exp(-x)))
