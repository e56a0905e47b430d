# Registers an operator whose body is PyTorch, and says that it only changes `out`.
# verdict: policy_violation, runtime_error, wrong_answer
# base: hostile/not_a_kernel/traced_graph
#-graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))
#+@torch.library.custom_op("kernelmark_hostile::silu", mutates_args=("out",))
#+def compute(x: torch.Tensor, out: torch.Tensor) -> None:
#+    out.copy_(x / (1 + torch.exp(-x)))
#+
#+
#+@compute.register_fake
#+def _(x, out):
#+    return None
#-    out.copy_(graph(x))
#+    torch.ops.kernelmark_hostile.silu(x, out)
