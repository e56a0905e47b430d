"""Without a GPU, requests for its memory are met with the CPU's, so that host code runs as it was written for one.

It stands apart from the interpreter's own machinery, which the run-time record may overlook: operators dispatched from
here are the student's doing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_CPU = torch.device("cpu")


class OnCpu(TorchFunctionMode):
    """Reads `device="cuda"` as the CPU and forgets `pin_memory=True`, in whatever function of PyTorch they are passed.

    A request that costs no operator on a GPU, such as `.cuda()` of a tensor that is there already, costs none here.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # As in the recorder: True would import PyTorch's compiler.
        return False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if (method := _METHODS.get(func)) is not None:
            return method(*args, **(kwargs or {}))
        if not kwargs:
            return func(*args)
        if _asks_for_gpu(kwargs.get("device")):
            kwargs = {**kwargs, "device": _CPU}
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        return func(*args, **kwargs)


def _asks_for_gpu(device: Any) -> bool:
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    return isinstance(device, int) and not isinstance(device, bool)


def _arrived(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as it is after its way to a device: the elements of a view with gaps arrive side by side."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor if tensor.numel() in (0, span) else tensor.to(_CPU, copy=True)


def _cuda(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return _arrived(tensor)


def _to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    asked = (*args, kwargs.get("device"))
    # `x.device` is the CPU here and a GPU there; "cpu" spelt out is the CPU in both.
    moves = any(isinstance(one, torch.device) or _asks_for_gpu(one) for one in asked)
    args = tuple(_CPU if _asks_for_gpu(one) else one for one in args)
    if _asks_for_gpu(kwargs.get("device")):
        kwargs["device"] = _CPU
    made = torch.Tensor.to(tensor, *args, **kwargs)
    return _arrived(made) if moves and made is tensor else made


def _pin_memory(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    """A copy with the same strides, as PyTorch makes one; the policy treats its operators as it does `_pin_memory`."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)


_METHODS: dict[Any, Any] = {
    torch.Tensor.cuda: _cuda,
    torch.Tensor.to: _to,
    torch.Tensor.pin_memory: _pin_memory,
}


def enter() -> None:
    """Place the rest of this thread, and of the processes forked from it, on the CPU; also its default device."""
    from torch.utils._device import DeviceContext

    made = DeviceContext.__init__

    def on_cpu(self: Any, device: Any) -> None:
        made(self, _CPU if _asks_for_gpu(device) else device)

    DeviceContext.__init__ = on_cpu  # type: ignore[method-assign]
    OnCpu().__enter__()  # type: ignore[no-untyped-call]
