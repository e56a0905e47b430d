# torch.einsum under another name.
# expect: einsum
from torch import einsum as contract


def gemm(a, b, out):
    out.copy_(contract("mk,kn->mn", a, b))
