"""Kernels lowered by Triton's front end and run by the simulator, without host code or planner."""

from typing import Any, Literal

import torch
from torch import Tensor
from triton.runtime.jit import JITFunction

from grader.judging.answers.compare import POISON, poison_, poison_mask
from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.state import Mode
from grader.languages.triton.options import Options
from grader.plan.device import Device
from grader.plan.findings import UndefinedBehaviour
from grader.plan.messages import NOWHERE, RunOptions, Simulated, Where
from grader.plan.plan import (
    Argument,
    Buffer,
    Descriptor,
    DType,
    Float,
    Integer,
    Kernel,
    Launch,
    Plan,
    Pointer,
    View,
)
from grader.simulation.memory import Result
from tests.languages.triton.kernels import text_of

TYPES = {
    torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64", torch.int64: "i64",
    torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1",
    torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
    torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
}  # fmt: skip


class HostDescriptor:
    """A tensor passed as a descriptor made on the host."""

    def __init__(self, tensor: Tensor, block: list[int], padding: Literal["zero", "nan"] = "zero") -> None:
        self.tensor, self.block, self.padding = tensor, block, padding


def lower(function: JITFunction[Any], signature: dict[str, str], constants: dict[str, Any], *, debug: bool) -> str:
    """The text of a kernel, with or without the checks of a simulation."""
    return text_of(function, signature, constants, debug=debug, sanitize_overflow=debug)


def _argument(value: Any, index: int) -> tuple[str, Argument]:
    """The type of an argument as Triton writes it, and what stands for it in a plan."""
    if isinstance(value, HostDescriptor):
        dtype: DType = str(value.tensor.dtype)[6:]  # type: ignore[assignment]
        view = View(buffer=index, shape=list(value.tensor.shape), strides=list(value.tensor.stride()), dtype=dtype)
        return (f"tensordesc<{TYPES[value.tensor.dtype]}{value.block}>",
                Descriptor(view=view, block=value.block, padding=value.padding))
    if isinstance(value, Tensor):
        return f"*{TYPES[value.dtype]}", Pointer(buffer=index)
    if isinstance(value, bool):
        return "u1", Integer(type="u1", value=int(value))
    if isinstance(value, int):
        kind: Literal["i32", "i64"] = "i32" if -(2**31) <= value < 2**31 else "i64"
        return kind, Integer(type=kind, value=value)
    return "fp32", Float(value=value)


def planned(
    function: JITFunction[Any], grid: tuple[int, ...], *values: Any, debug: bool = True, **constants: Any
) -> tuple[Plan, list[Any]]:
    """A plan of one launch, in which each tensor is given, and the tensors' memory."""
    names = [name for name in function.arg_names if name not in constants]
    tensors: list[Tensor] = []
    signature, arguments = {}, []
    for name, value in zip(names, values, strict=True):
        signature[name], argument = _argument(value, len(tensors))
        arguments.append(argument)
        if isinstance(value, Tensor | HostDescriptor):
            tensors.append(value if isinstance(value, Tensor) else value.tensor)
    given = [name for name, value in zip(names, values, strict=True) if isinstance(value, Tensor | HostDescriptor)]
    kernel = Kernel(
        language="triton", name=function.__name__, symbol=function.__name__,
        text=lower(function, signature, constants, debug=debug),
        signature=list(signature.values()))
    x, y, z = (*grid, 1, 1)[:3]
    plan = Plan(
        buffers=[Buffer(bytes=tensor.nbytes, given=name) for tensor, name in zip(tensors, given, strict=True)],
        kernels=[kernel], first=[Launch(kernel=0, grid=(x, y, z), block=(128, 1, 1), arguments=arguments, line=1)])
    return plan, [memory(tensor) for tensor in tensors]


def memory(tensor: Tensor) -> Any:
    """The bytes of a contiguous CPU tensor, which share its memory."""
    return tensor.view(-1).view(torch.uint8).numpy()


def simulate(
    function: JITFunction[Any], grid: tuple[int, ...], *values: Any, debug: bool = True,
    masked: Where = NOWHERE, order: Where = NOWHERE, operations: int = 10**10,
    early: Where = NOWHERE, device: Device | None = None, options: dict[str, Any] | None = None, **constants: Any,
) -> Result:
    """Runs a kernel on tensors, in place. Numbers and tensors in the order of its parameters, constants by name."""
    plan, memories = planned(function, grid, *values, debug=debug, **constants)
    plan = with_options(plan, **(options or {}))
    empty = [buffer.given for buffer, raw in zip(plan.buffers, memories, strict=True) if _poisoned(raw)]
    mode = Mode(device=device, options=RunOptions(masked=masked, order=order, early=early))
    return run(plan, memories, outputs=empty, operations=operations, mode=mode)


def with_options(plan: Plan, **options: Any) -> Plan:
    """The plan with other options for all of its kernels."""
    made = Options(**options)
    return plan.model_copy(update={
        "kernels": [kernel.model_copy(update={"options": made.for_plan()}) for kernel in plan.kernels],
        "first": [operation.model_copy(update=made.for_launch()) for operation in plan.first]})


def _poisoned(raw: Any) -> bool:
    """Whether memory is an output as the judge hands it over, of one type or the other."""
    given = torch.from_numpy(raw)
    return given.numel() > 0 and any(
        given.numel() % dtype.itemsize == 0 and bool(poison_mask(given.view(dtype)).all()) for dtype in POISON)


def right(result: Any) -> None:
    assert not found(result)


def found(result: Any, open: bool = False) -> list[Any]:
    """What was seen: without, or only with `open`, what another order has yet to show."""
    assert isinstance(result, Simulated), result
    return [one for one in result.findings if (isinstance(one, UndefinedBehaviour) and not one.certain) == open]


def close(got: Tensor, expected: Tensor, rtol: float | None = None, atol: float | None = None) -> None:
    torch.testing.assert_close(got, expected.to(got.dtype), rtol=rtol, atol=atol, equal_nan=True)


def poison(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """An output as the judge hands it over."""
    tensor = torch.empty(shape, dtype=dtype)
    poison_(tensor)
    return tensor
