# The operator's name is put together from pieces.
import torch


def silu(x, out):
    function = getattr(torch, "sig" + "moid")
    getattr(torch, "".join(["m", "u", "l"]))(x, function(x), out=out)
