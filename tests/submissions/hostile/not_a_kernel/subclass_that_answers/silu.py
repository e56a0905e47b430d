# A subclass of tensors answers every operator itself and says it did.
# verdict: time_limit, wrong_answer, policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return args[0]

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return args[0]


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    x, out = x.as_subclass(Mine), out.as_subclass(Mine)
    out.copy_(x / (1 + torch.exp(-x)))
