"""Kernels in Gluon, which say themselves how elements lie on threads and in shared memory. TTIR cannot say that, so a
plan has such a kernel as its compiler leaves it, as PTX."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from grader.host.record import UnsupportedError
from grader.languages.cuda.slices import EntryText, slices
from grader.languages.cuda.source import KernelDeclaration
from grader.languages.triton.confined import api
from grader.plan.plan import Argument, Float, Integer, Malformed

# Functions of Gluon that become what no plan has, and what to write instead.
_DESCRIPTORS = "{name} takes a tensor descriptor, which is not planned in Gluon: pass the tensor, and load with gl.load"
_SCRATCH = "{name} makes a tensor descriptor, which is not planned in Gluon: load with gl.load or async_copy"
_CLUSTERS = "{name} is launched in clusters, which are not planned in Gluon: leave num_ctas and launch_pdl out"


def check(src: Any, options: Any) -> None:
    """Check what shows before a kernel is lowered. Raises UnsupportedError for a launch that no plan can have."""
    if any(str(kind).startswith("tensordesc") for kind in src.signature.values()):
        raise UnsupportedError(_DESCRIPTORS.format(name=src.fn.__name__))
    if options.num_ctas > 1 or options.launch_pdl:
        raise UnsupportedError(_CLUSTERS.format(name=src.fn.__name__))


def entry_of(src: Any, module: Any, options: Any, target: api.GPUTarget) -> tuple[EntryText, int]:
    """Return a kernel's text as PTX, from the module of Gluon's front end, and the bytes of shared memory that its
    launch asks for. Raises UnsupportedError for a kernel that no plan can have, RuntimeError for one that Triton's
    compiler gives up on."""
    name, symbol = src.fn.__name__, module.get_entry_func_name()
    names = [name for argument, kind in src.signature.items() for name in _names(argument, kind)]
    texts, metadata = api.lowered(module, options, target, src.language)
    if metadata["global_scratch_size"]:
        raise UnsupportedError(_SCRATCH.format(name=name))
    try:
        (entry,) = slices(texts["ptx"], [KernelDeclaration(symbol, tuple(names), api.definition(src.fn))], ".py")
    except (Malformed, ValueError) as error:
        raise UnsupportedError(f"{name} cannot be read: {error}"[:400]) from None
    if entry.unplanned:
        raise UnsupportedError(entry.unplanned)
    return entry, int(metadata["shared"])


def operands(entry: EntryText, arguments: Sequence[Argument]) -> list[Argument]:
    """Return the operands of a launch: its arguments, and no scratch memory behind them."""
    behind = [Integer(type="u64", value=0) for _ in entry.signature[len(arguments):]]
    return [*map(_operand, arguments), *behind]


def _operand(argument: Argument) -> Argument:
    """Return an argument as PTX takes it: narrow floats as their bits."""
    if isinstance(argument, Float) and argument.type == "fp16":
        return Integer(type="u16", value=struct.unpack("<H", struct.pack("<e", argument.value))[0])
    if isinstance(argument, Float) and argument.type == "bf16":
        return Integer(type="u16", value=struct.unpack("<I", struct.pack("<f", argument.value))[0] >> 16)
    return argument


def _names(name: str, kind: Any) -> Iterator[str]:
    """Yield a kernel's names for the parameters that an argument becomes."""
    if isinstance(kind, (tuple, list)):
        for number, inner in enumerate(kind):
            yield from _names(f"{name}_{number}", inner)
    elif kind != "constexpr":
        yield name
