"""Reader of kernels' texts: it checks a text, and finds inline assembly and foreign functions in it.

The text comes from a process that may be hostile, and Triton's parser reads it later. So this reader cuts it into the
same tokens as that parser (MLIR's "Language Reference"), and refuses whatever it does not know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata
from itertools import accumulate

from grader.languages import ForeignCode
from grader.languages.triton.options import options_of
from grader.plan.plan import (
    ITEM_BYTES,
    MOST_KERNELS,
    Argument,
    Descriptor,
    DType,
    Float,
    Integer,
    Kernel,
    Launch,
    Malformed,
    Name,
    Pointer,
    Structure,
)
from grader.plan.tokens import cut_tokens

DIALECTS = frozenset({"tt", "arith", "math", "scf", "cf", "ub"})
# The operations of other dialects that Triton's front end writes: for tl.debug_barrier and tl.assume.
OTHERS = frozenset({"gpu.barrier", "ttg.barrier", "llvm.intr.assume"})
# The operations that are printed in the generic form, as a string.
GENERIC = frozenset({"tt.reduce", "tt.scan", "tt.map_elementwise"})
MOST_DEPTH = 128
MOST_FOREIGN = 64

# Possessive quantifiers (`*+`, `++`) give no match back: a text is read in one way, in linear time.
_STRING = r'"(?:[^"\\\n\v\f]++|\\(?:["\\nt]|[0-9A-Fa-f]{2}))*+"'
_PLACE = rf"{_STRING}(?:\(\#loc\d*\)|:\d+:\d+)"
_TOKEN = re.compile(
    rf"""
    # White space, comments, and the usual forms of a location and of a tensor's type, which are most of a text.
    (?P<space>(?:[\ \t\n]++|//[\x20-\x7e]*+|(?:\#loc\d*\ =\ )?loc\((?:\#loc\d*|unknown|{_PLACE})\))++)
  | (?P<type>tensor<(?:[0-9]++x)++(?:[A-Za-z]\w*+|!tt\.ptr<\w++>)>)
  | (?P<string>{_STRING})
  | (?P<word>[!#]?[A-Za-z_][\w$]*+(?:\.[\w$]++)*+)
  | (?P<symbol>@(?:[A-Za-z_][\w$.]*|"(?:[\ !\#-:<-\[\]-z|~]|\\[89A-Fa-f][0-9A-Fa-f])*+"))
  | (?P<value>[%^](?:[0-9]+|[A-Za-z$._-][\w$.-]*)(?:\#[0-9]+)?)
  | (?P<number>0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?)
  | (?P<sign>->|::|[:,()\[\]{{}}<>=+*?|-])
    """,
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))")

# Assembly that stands in Triton's own library: `gdc_wait`, `gdc_launch_dependents`, `globaltimer`, `smid`.
_OWN = frozenset({
    "griddepcontrol.wait; // dummy $0", "griddepcontrol.launch_dependents; // dummy $0", "mov.u64 $0, %globaltimer;",
    "mov.u32 $0, %smid;"})  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """The facts in a kernel's text: `parameters` are the types of the entry's arguments as MLIR writes them, `names`
    the kernel's names for them."""

    symbol: str
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    foreign: tuple[ForeignCode, ...]


def read_kernel(kernel: Kernel) -> tuple[ForeignCode, ...]:
    """Return the foreign code in a kernel, each piece once. Raises Malformed for a text that Triton's front end does
    not write, or whose entry differs from `symbol` and `signature`."""
    options_of(kernel)
    reading = read_text(kernel.text)
    if reading.symbol != kernel.symbol:
        raise Malformed(f"the kernel's entry is {reading.symbol[:100]}, not {kernel.symbol[:100]}")
    expected = [word for entry in kernel.signature for word in _parameters(entry)]
    if [_as_triton_3_6(word) for word in reading.parameters] != expected:
        raise Malformed(f"the entry of {kernel.symbol[:100]} takes other arguments than its signature says")
    return reading.foreign


def argument_names(kernel: Kernel) -> list[str]:
    """Return the kernel's names for the arguments of a launch. Raises Malformed as `read_kernel` does."""
    names = read_text(kernel.text).names
    # The shape and strides of a descriptor follow it.
    starts = accumulate((len(_parameters(entry)) for entry in kernel.signature[:-1]), initial=0)
    return [names[start] for start in starts] if kernel.signature else []


@lru_cache(maxsize=MOST_KERNELS)
def read_text(text: str) -> Reading:
    tokens = [(str(match.lastgroup), match.group()) for match in cut_tokens(text, _TOKEN, "Triton's front end")]
    symbol = ""
    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    foreign: dict[ForeignCode, None] = {}
    depth = 0
    for at, (kind, token) in enumerate(tokens):
        following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if kind == "sign":
            depth += (token in "([{<") - (token in ")]}>")
            if depth > MOST_DEPTH:
                raise Malformed("a kernel that is nested too deeply")
        elif kind == "word":
            _check_word(token, following)
            if token == "tt.elementwise_inline_asm":
                foreign[ForeignCode("assembly", _string(tokens, at + 1))] = None
            elif following == "=" and not token.startswith(("#", "!")):
                _check_attribute(token, tokens, at + 2, foreign)
            elif token == "tt.func" and following == "public":
                if symbol:
                    raise Malformed("a kernel of two entries")
                symbol, names, parameters = _entry(tokens, at + 2)
        elif kind == "string" and following == "(":
            if unescaped(token[1:-1]) not in GENERIC:
                raise Malformed(f"an operation that Triton's front end writes in another form: {token[:100]}")
        elif kind == "string" and following == "=":
            name = unescaped(token[1:-1])
            _check_word(name, "")
            _check_attribute(name, tokens, at + 2, foreign)
    if not symbol:
        raise Malformed("a kernel without an entry")
    if depth:
        raise Malformed("a kernel's text that ends in the middle")
    if len(foreign) > MOST_FOREIGN:
        raise Malformed("too much foreign code in one kernel")
    own = {ForeignCode("assembly", assembly) for assembly in _OWN}
    return Reading(symbol, names, parameters, tuple(code for code in foreign if code not in own))


def _check_word(word: str, following: str) -> None:
    """Refuse the name of an operation, attribute or type if no kernel has its dialect."""
    bare = word.lstrip("!#")
    dialect, dot, _ = bare.partition(".")
    # `!name<` and `#name<` are another spelling of a dialect's own types and attributes.
    if dot or (bare != word and following == "<"):
        if dialect not in DIALECTS and bare not in OTHERS:
            raise _foreign(word)
    elif bare in ("unrealized_conversion_cast", "dense_resource"):
        raise _foreign(word)


def _foreign(word: str) -> Malformed:
    # A version that is newer than the grader may have words of its own.
    return Malformed(f"{word[:100]} is none of Triton's language ({installed()} is installed)")


@cache
def installed() -> str:
    """Return the version of Triton that is installed."""
    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        # A build under another name.
        return "of an unknown version"


def _check_attribute(name: str, tokens: list[tuple[str, str]], at: int, foreign: dict[ForeignCode, None]) -> None:
    """Add the symbol of a foreign function to `foreign`, and refuse a path to its library: Triton's own needs none."""
    if name == "symbol":
        symbol = _string(tokens, at)
        if not symbol.isidentifier() or not symbol.isascii():
            raise Malformed("a foreign function that has no name")
        if not symbol.startswith("__nv_"):
            foreign[ForeignCode("function", symbol)] = None
    elif name == "libpath" and _string(tokens, at):
        raise Malformed("a kernel that names a library's file")


def _entry(tokens: list[tuple[str, str]], at: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the symbol, and the arguments' names and types, of the function whose symbol is token `at`.

    `@k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), …)`: a type ends where a brace or the next
    argument begins.
    """
    symbol = tokens[at][1].removeprefix("@") if at < len(tokens) else ""
    if not symbol.isidentifier():
        raise Malformed("a kernel's entry has no plain name")
    names: list[str] = []
    # Joined at the end: a string that grows token by token is copied for each.
    types: list[list[str]] = []
    depth, inside = 0, False
    for kind, token in tokens[at + 1 :]:
        if token in ("(", "{", "<", "["):
            depth += 1
        elif token in (")", "}", ">", "]"):
            depth -= 1
            if depth == 0:
                return symbol, tuple(names), tuple(map("".join, types))
        if kind == "value" and depth == 1:
            names.append(token.removeprefix("%"))
            types.append([])
            inside = False
        elif token == ":" and depth == 1 and types:
            inside = True
        elif token == "{" or (token == "," and depth == 1):
            inside = False
        elif inside:
            types[-1].append(token)
    raise Malformed("a kernel's entry has no end")


_SCALARS = {
    "i1": "i1", "u1": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "u16": "i16", "i32": "i32", "u32": "i32",
    "i64": "i64", "u64": "i64", "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64",
    "fp8e4nv": "f8E4M3FN", "fp8e5": "f8E5M2",
}  # fmt: skip
_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([0-9]{1,7}(?:, ?[0-9]{1,7}){0,4})\]>", re.ASCII)
_BLOCK = re.compile(r"!tt\.tensordesc<(\d[^<>]*)>", re.ASCII)
POINTEE_BYTES: dict[str, int] = {
    name: 1 if name in ("i1", "u1", "fp8e4nv", "fp8e5") else int(re.sub(r"\D", "", name)) // 8 for name in _SCALARS}


def pointee(entry: str) -> str | None:
    """Return the element type behind an entry of a signature, `fp32` for `*fp32`; None if it is no pointer."""
    return entry[1:].removeprefix("k") if entry.startswith("*") else None


def descriptor(entry: str) -> tuple[str, list[int]] | None:
    """Return the element type and block of `tensordesc<fp16[128, 64]>`; None for an entry that is no descriptor."""
    match = _DESCRIPTOR.fullmatch(entry)
    return (match[1], [int(size) for size in match[2].split(",")]) if match else None


def _as_triton_3_6(word: str) -> str:
    """Return a type as Triton 3.6 writes it: 3.9 has `!tt.tensordesc<64x32xf16>` for
    `!tt.tensordesc<tensor<64x32xf16>>`, and `!tt.ptr<f16,"constant">` for a pointer that nothing is stored through."""
    return _BLOCK.sub(r"!tt.tensordesc<tensor<\1>>", word).replace(',"constant">', ">")


def _parameters(entry: Name) -> list[str]:
    """Return MLIR's types for an entry of a signature. Raises Malformed for an entry that no launch has."""
    tensor_descriptor = descriptor(entry)
    element = tensor_descriptor[0] if tensor_descriptor else pointee(entry) or entry
    # Only memory holds elements of eight bits; no argument is one.
    is_small_float = element == entry and element.startswith("fp8")
    if element not in _SCALARS or is_small_float:
        raise Malformed(f"a signature of {entry[:100]!a}")
    scalar = _SCALARS[element]
    if tensor_descriptor:
        block = tensor_descriptor[1]
        # A descriptor keeps the sign of integers.
        sign = {"i": "s", "u": "u"}.get(element[0], "")
        tensor = f"tensor<{'x'.join(map(str, block))}x{sign}{scalar}>"
        return [f"!tt.tensordesc<{tensor}>", *["i32"] * len(block), *["i64"] * len(block)]
    return [f"!tt.ptr<{scalar}>"] if entry.startswith("*") else [scalar]


def _string(tokens: list[tuple[str, str]], at: int) -> str:
    """Return the text of token `at`, a string. Raises Malformed for any other token."""
    if at >= len(tokens) or tokens[at][0] != "string":
        raise Malformed("a string expected in a kernel's text")
    return unescaped(tokens[at][1][1:-1])


def unescaped(text: str) -> str:
    """Return what stands between quotes without escapes, each escaped byte as a character of its own."""
    def byte(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return {"n": "\n", "t": "\t"}.get(match[2], match[2])

    return _ESCAPE.sub(byte, text)


# The limits of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Management").
DESCRIPTOR_ALIGNMENT = 16
MOST_DESCRIPTOR_SIZE = 2**32
MOST_DESCRIPTOR_STRIDE = 2**40
# A type of Triton's for each dtype of a tensor.
_TRITON: dict[DType, str] = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64",
    "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "u1",
}  # fmt: skip


def check_launch(launch: Launch, kernel: Kernel) -> None:
    """Check that a launch fits its kernel, which `read_kernel` has checked. Raises Malformed."""
    expected = options_of(kernel).for_launch()
    if launch.shared or any(getattr(launch, name) != value for name, value in expected.items()):
        raise Malformed("a launch that does not fit its kernel's options")
    for argument, entry in zip(launch.arguments, kernel.signature, strict=True):
        _check_argument(argument, entry)


def _check_argument(argument: Argument, entry: str) -> None:
    match argument:
        case Pointer(offset=offset):
            element = pointee(entry)
            if element is None or offset % POINTEE_BYTES[element]:
                raise Malformed("a pointer that does not fit its kernel's signature")
        case Descriptor():
            _check_descriptor(argument, entry)
        case Integer(type=kind, value=value):
            bits = int(kind[1:])
            signed = kind[0] == "i" and bits > 1
            low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
            # A bool has two names.
            same = entry == kind or {entry, kind} == {"i1", "u1"}
            if not same or not low <= value < high:
                raise Malformed("an integer that does not fit its kernel's signature")
        case Float(type=kind):
            if entry != kind:
                raise Malformed("a float that does not fit its kernel's signature")
        case Structure():
            raise Malformed("a structure, which no kernel takes")


def _check_descriptor(argument: Descriptor, entry: str) -> None:
    """Check the rules of Triton's TensorDescriptor. The planner's Triton checks them, too, but a plan may be forged."""
    view, item = argument.view, ITEM_BYTES[argument.view.dtype]
    if descriptor(entry) != (_TRITON[view.dtype], argument.block):
        raise Malformed("a descriptor that does not fit its kernel's signature")
    rank = len(argument.block)
    if not len(view.shape) == len(view.strides) == rank or view.strides[-1] != 1:
        raise Malformed("a descriptor whose last dimension is not contiguous, or of another rank than its block")
    if view.offset % DESCRIPTOR_ALIGNMENT or any(stride * item % DESCRIPTOR_ALIGNMENT for stride in view.strides[:-1]):
        raise Malformed("a descriptor that is not aligned")
    if not all(0 < size < MOST_DESCRIPTOR_SIZE for size in view.shape):
        raise Malformed("a descriptor of a size that no GPU takes")
    if any(stride * item >= MOST_DESCRIPTOR_STRIDE for stride in view.strides):
        raise Malformed("a descriptor of a stride that no GPU takes")
    if argument.padding == "nan" and "float" not in view.dtype:
        raise Malformed("a descriptor that fills integers with NaN")
