# Captures PyTorch in a CUDA graph, replayed in place of a launch.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+graph = torch.cuda.CUDAGraph()
#-    out.copy_(graph(x))
#+    with torch.cuda.graph(graph):
#+        out.copy_(torch.nn.functional.silu(x))
#+    graph.replay()
