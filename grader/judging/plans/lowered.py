"""Lowered plans: a kernel is the text that its compiler gives to the assembler, and a launch has the operands of the
machine code.

The simulator of another language runs that text, thread by thread. Such a run shows how the machine behaves where the
language of the kernel promises nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence

from grader import languages
from grader.device.driver import descriptor_part, float_bytes
from grader.plan.compiled import Binary, DescriptorPart, Operand, PlainArgument, ScratchAddress, TensorMap, Zeros
from grader.plan.messages import kernel_key
from grader.plan.plan import (
    POINTER_BYTES,
    Argument,
    Buffer,
    Descriptor,
    Float,
    InnerPointer,
    Integer,
    Kernel,
    Launch,
    Operation,
    Plan,
    Structure,
)
from grader.simulation.ptx import tensor_maps

# Most bytes of a launch's scratch memory. Each launch has its own, which no other one can see.
_MOST_SCRATCH = 64 << 20


class CannotLower(Exception):
    """A plan that cannot be lowered: it has a cluster, a tensor map of another form, or too much scratch memory."""


def lowered(plan: Plan, binaries: Mapping[str, Binary], language: str) -> Plan:
    """Return a plan's setup and first call, with kernels in the `language` of their machine text. `binaries` has the
    machine code of the plan's kernels, with its text, by `kernel_key`. Raises CannotLower."""
    buffers = list(plan.buffers)
    ordered = [binaries[kernel_key(kernel)] for kernel in plan.kernels]
    return Plan(
        buffers=buffers, kernels=[_kernel(*pair, language) for pair in zip(plan.kernels, ordered, strict=True)],
        setup=[_operation(operation, ordered, buffers) for operation in plan.setup],
        first=[_operation(operation, ordered, buffers) for operation in plan.first])


def _kernel(kernel: Kernel, binary: Binary, language: str) -> Kernel:
    names = languages.of(kernel).argument_names(kernel)

    def rename(match: re.Match[str]) -> str:
        number = int(match[1])
        operand = binary.metadata.operands[number] if number < len(binary.metadata.operands) else None
        name = names[operand.argument] if isinstance(operand, PlainArgument) and operand.argument < len(names) else ""
        return f"param_{number}_{re.sub(r'[^0-9A-Za-z_]', '_', name)}"

    text = re.sub(rf"\b{re.escape(binary.metadata.name)}_param_(\d{{1,4}})\b", rename, binary.ptx)
    return Kernel(language=language, name=kernel.name, symbol=binary.metadata.name, line=kernel.line, text=text,
                  signature=["operand"] * min(len(binary.metadata.operands), 64))


def _operation(operation: Operation, binaries: Sequence[Binary], buffers: list[Buffer]) -> Operation:
    if not isinstance(operation, Launch):
        return operation
    metadata = binaries[operation.kernel].metadata
    if metadata.cluster > 1 or operation.cluster > 1:
        raise CannotLower("a cluster")
    return operation.model_copy(update={
        "shared": metadata.shared + operation.shared, "programmatic": False,
        "arguments": [_argument(operand, operation, buffers) for operand in metadata.operands]})


def _argument(operand: Operand, launch: Launch, buffers: list[Buffer]) -> Argument:
    if isinstance(operand, Zeros):
        return _bytes(bytes(operand.bytes))
    if isinstance(operand, ScratchAddress):
        if not operand.bytes:
            return _bytes(bytes(POINTER_BYTES))
        x, y, z = launch.grid
        if operand.bytes * x * y * z > _MOST_SCRATCH:
            raise CannotLower("scratch memory")
        buffers.append(Buffer(bytes=operand.bytes * x * y * z, line=launch.line))
        return _address(len(buffers) - 1, 0)
    argument = launch.arguments[operand.argument]
    if isinstance(operand, PlainArgument):
        return _bytes(float_bytes(argument)) if isinstance(argument, Float) else argument
    if isinstance(operand, DescriptorPart) and isinstance(argument, Descriptor):
        view = argument.view
        if operand.of == "address":
            return _address(view.buffer, view.offset)
        return Integer(type=operand.type, value=descriptor_part(operand, argument, view.offset))
    if isinstance(operand, TensorMap) and isinstance(argument, Descriptor):
        return _map(operand, argument)
    raise CannotLower("an operand of another kind")


def _map(operand: TensorMap, descriptor: Descriptor) -> Structure:
    """Return a tensor map in the simulator's own form: see `grader.simulation.ptx.tensor_maps`."""
    view, rank, item = descriptor.view, len(operand.block_size), operand.elem_size
    if descriptor.padding == "nan" or operand.fp4_padded or rank != len(view.shape) or item not in tensor_maps.KINDS:
        raise CannotLower("a tensor map of another form")
    fields = {
        "rank": [rank - 1], "elemtype": [tensor_maps.KINDS[item]], "swizzle_mode": [operand.swizzle],
        # The fastest dimension comes first, and has no stride.
        "box_dim": operand.block_size[::-1], "element_stride": [1] * rank, "global_dim": view.shape[::-1],
        "global_stride": [stride * item for stride in view.strides[-2::-1]]}
    return Structure(contents=base64.b64encode(tensor_maps.packed(fields)).decode(),
                     pointers=[InnerPointer(at=0, buffer=view.buffer, offset=view.offset)])


def _bytes(contents: bytes) -> Structure:
    return Structure(contents=base64.b64encode(contents).decode())


def _address(buffer: int, offset: int) -> Structure:
    return Structure(contents=base64.b64encode(bytes(POINTER_BYTES)).decode(),
                     pointers=[InnerPointer(at=0, buffer=buffer, offset=offset)])
