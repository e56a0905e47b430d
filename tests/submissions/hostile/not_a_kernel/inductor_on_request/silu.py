# Has Inductor write a kernel for PyTorch's silu, for a device that is not there, and launches that as one's own:
# text that is written to its folder, and imported from there.
# verdict: time_limit, policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
# shared: show_kernel
def written():
    import torch._inductor.utils as utils
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        example = torch.empty(64, 64, device="cuda")
    _, (code, *_) = utils.run_and_get_code(torch.compile(torch.nn.functional.silu), example)
    namespace = {"__name__": "written"}
    exec(code, namespace)
    return namespace["call"]


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    written()([x])
