"""Checks of a kernel's text, as `split` makes it, and facts that are read from the text.

A text comes from a process that may be hostile; a simulator and NVIDIA's assembler read it later.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache

from grader.languages import ForeignCode
from grader.languages.cuda.read_only import CALLED, MOST_BYTES, MOST_VARIABLES, read_only
from grader.languages.cuda.slices import LIBRARY_FILE, EntryText, HiddenVariable, most_threads, shared_bytes, split
from grader.plan.plan import (
    ARGUMENT_BYTES,
    MOST_KERNELS,
    POINTER_BYTES,
    Argument,
    Descriptor,
    Float,
    Integer,
    Kernel,
    Launch,
    Malformed,
    Pointer,
    Structure,
)
from grader.simulation.ptx.reader import LAUNCH, TextFunction, TextModule, read_module

__all__ = ["EntryText", "HiddenVariable", "argument_names", "check_launch", "read_kernel", "split"]

# "Compute Capabilities" in the CUDA C++ Programming Guide.
MOST_BLOCK = (1024, 1024, 64)

_TARGET = re.compile(r"sm_\d{2,3}[af]?", re.ASCII)
_VERSION = re.compile(r"\d{1,2}\.\d", re.ASCII)
_PARAMETER = re.compile(r"param_(\d{1,2})_(\w{0,200})", re.ASCII)
_STRUCTURE = re.compile(r"b8\[(\d{1,5})\]@(\d{1,4})", re.ASCII)
_PRAGMA = re.compile(r'"(?:nounroll|used_bytes_mask \w{1,20}|frequency \d{1,9})"', re.ASCII)


def read_kernel(kernel: Kernel) -> tuple[ForeignCode, ...]:
    """Check a kernel's text, and return the library whose header defines the kernel, if one does. Raises Malformed for
    a text that our builder does not write, or whose entry differs from `symbol` or `signature`."""
    if kernel.options:
        raise Malformed("a kernel with options, which this language has none of")
    entry = _parse(kernel.text)[1]
    if entry.name != kernel.symbol:
        raise Malformed(f"the kernel's entry is {entry.name[:100]}, not {kernel.symbol[:100]}")
    if [parameter.entry for parameter in entry.parameters] != kernel.signature:
        raise Malformed(f"the entry of {kernel.symbol[:100]} takes other arguments than its signature says")
    library = _parse(kernel.text)[0].files.get(LIBRARY_FILE, "")
    return (ForeignCode("library", library),) if library else ()


def argument_names(kernel: Kernel) -> list[str]:
    """Return the kernel's name for each argument of a launch; an argument without a name is called by its position.
    Raises Malformed as `read_kernel` does."""
    return [shown_name(parameter.name) for parameter in _parse(kernel.text)[1].parameters]


def shown_name(parameter: str) -> str:
    """Return the name by which a student knows a parameter of a text: `input` for `param_0_input`, else
    `parameter 1`."""
    match = _PARAMETER.fullmatch(parameter)
    return match[2] or f"parameter {int(match[1]) + 1}" if match else parameter


def canonical(text: str) -> str:
    """Return a text in its one printed form, "" for a text that our builder does not write."""
    try:
        return _parse(text)[0].written()
    except Malformed:
        return ""


def own_shared(text: str) -> int:
    """Return the shared memory that a text declares, in bytes. Raises Malformed."""
    return shared_bytes(_parse(text)[0])


def check_launch(launch: Launch, kernel: Kernel) -> None:
    """Check that a launch fits its kernel, which `read_kernel` has checked. Raises Malformed."""
    most = most_threads(_parse(kernel.text)[1])
    if not 1 <= launch.threads <= most or any(
            side > limit for side, limit in zip(launch.block, MOST_BLOCK, strict=True)):
        raise Malformed("a launch of more threads than a block may have")
    if launch.cluster != 1 or launch.programmatic:
        raise Malformed("a launch with clusters, or one that begins before the last has ended")
    for argument, entry in zip(launch.arguments, kernel.signature, strict=True):
        _check_argument(argument, entry)


def _check_argument(argument: Argument, entry: str) -> None:
    bits = int(entry[1:]) if entry[1:].isdecimal() else 0
    match argument:
        case Pointer():
            fits = entry in ("u64", "s64", "b64")
        case Integer(type=kind, value=value):
            size = int(kind[1:])
            low, high = (-(1 << size - 1), 1 << size - 1) if kind[0] == "i" and size > 1 else (0, 1 << size)
            fits = entry[0] in "usb" and max(size, 8) == bits and low <= value < high
        case Float(type=kind):
            fits = (kind, entry) in (("fp32", "f32"), ("fp64", "f64"))
        case Structure(contents=contents, pointers=pointers):
            match = _STRUCTURE.fullmatch(entry)
            held = base64.b64decode(contents)
            places = [inner.at for inner in pointers]
            fits = match is not None and len(held) == int(match[1]) and len(set(places)) == len(places) and not any(
                at % POINTER_BYTES or at + POINTER_BYTES > len(held) or any(held[at : at + POINTER_BYTES])
                for at in places)
        case Descriptor():
            fits = False
    if not fits:
        raise Malformed(f"an argument that does not fit its kernel's signature: {argument.kind} for {entry[:40]}")


@lru_cache(maxsize=MOST_KERNELS)
def _parse(text: str) -> tuple[TextModule, TextFunction]:
    """Return a text's module and its entry. Raises Malformed."""
    module = read_module(text)
    if not _VERSION.fullmatch(module.version) or module.address_size != "64" or len(module.target) != 1 or (
            not _TARGET.fullmatch(module.target[0])):
        raise Malformed("a kernel for a machine that is not known")
    if module.others:
        raise Malformed(f"a directive that no kernel's text has: {module.others[0]}")
    entries = [function for function in module.functions.values() if function.entry]
    if len(entries) != 1:
        raise Malformed(f"a kernel of {len(entries)} entries")
    _check_entry(entries[0])
    for function in module.functions.values():
        if function.body is None and function.name not in CALLED:
            raise Malformed(f"a kernel that calls {function.name[:100]}, which its text does not have")
        for statement in function.body or ():
            if statement.opcode == ".pragma" and not _PRAGMA.fullmatch("".join(statement.operands)):
                raise Malformed("a kernel that asks the assembler for something")
            if statement.opcode.startswith("ld.") and ".const" in statement.opcode:
                raise Malformed("a kernel that loads from constant memory, which its text has none of")
    _check_variables(module)
    return module, entries[0]


def _check_entry(entry: TextFunction) -> None:
    if entry.returns or sum(text_parameter.bytes for text_parameter in entry.parameters) > ARGUMENT_BYTES:
        raise Malformed("a kernel with more arguments than a launch has")
    if any(attribute[0] not in LAUNCH for attribute in entry.attributes):
        raise Malformed("a kernel that asks for clusters of blocks")
    for number, parameter in enumerate(entry.parameters):
        match = _PARAMETER.fullmatch(parameter.name)
        if match is None or int(match[1]) != number:
            raise Malformed(f"a parameter that no kernel's text has: {parameter.name[:100]}")


def _check_variables(module: TextModule) -> None:
    """Check the variables of a module: those that last from launch to launch must not change."""
    held = {name: variable for name, variable in module.variables.items() if variable.space != "shared"}
    for variable in held.values():
        if variable.space != "global" or not variable.initial or variable.bytes > MOST_BYTES or (
                any(word[0] not in "{},-" and not word[0].isdigit() for word in variable.initial)):
            raise Malformed(f"a variable that no kernel's text has: {variable.name[:100]}")
    if len(held) > MOST_VARIABLES or read_only(module.functions.values(), held) != frozenset(held):
        raise Malformed("a kernel that keeps values from one launch to the next")
    for variable in module.variables.values():
        if variable.space == "shared" and variable.initial:
            raise Malformed("shared memory that begins with values")
