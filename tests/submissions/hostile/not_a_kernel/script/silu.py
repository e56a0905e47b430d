# TorchScript compiles the function and runs it without Python.
# verdict: policy_violation, runtime_error, wrong_answer
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+@torch.jit.script
#+def compute(x, out):
#+    out.copy_(x / (1 + torch.exp(-x)))
#-    out.copy_(graph(x))
#+    compute(x, out)
