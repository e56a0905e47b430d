# Makes the CPU the default device, and works with what is made there.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+torch.set_default_device("cpu")
#-    out.copy_(graph(x))
#+    values = torch.ones(x.shape, device="cpu") * 0.5
#+    out.copy_(values)
