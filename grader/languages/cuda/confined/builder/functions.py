"""Search for the student's function in the compiled object, and the check that it takes the assignment's arguments."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits
from typing import NamedTuple

from grader.languages.cuda.confined.builder.programs import output
from grader.languages.cuda.confined.built import HostParameter
from grader.languages.cuda.source import hidden
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import DType
from grader.plan.tokens import split_at_commas

_C_TYPES: dict[DType, tuple[str, ...]] = {
    "float64": ("double",), "float32": ("float",), "float16": ("__half", "half"),
    "bfloat16": ("__nv_bfloat16", "nv_bfloat16"), "int64": ("long", "long long"), "int32": ("int",),
    "int16": ("short",), "int8": ("signed char", "char"), "uint64": ("unsigned long", "unsigned long long"),
    "uint32": ("unsigned int",), "uint16": ("unsigned short",), "uint8": ("unsigned char", "char"), "bool": ("bool",),
    "float8_e4m3fn": ("__nv_fp8_e4m3",), "float8_e5m2": ("__nv_fp8_e5m2",),
}  # fmt: skip
_WHOLE = ("int", "long", "long long", "unsigned int", "unsigned long", "unsigned long long", "short", "unsigned short")
_NUMBERS = {"int": _WHOLE, "float": ("float", "double"), "bool": ("bool", *_WHOLE)}
# Other spellings of types. `_normal` reads `unsigned` and its words in any order.
_SPELLED = {
    "unsigned": "unsigned int", "size_t": "unsigned long", "std::size_t": "unsigned long", "uint": "unsigned int",
    "int64_t": "long", "uint64_t": "unsigned long", "int32_t": "int", "uint32_t": "unsigned int",
    "uint8_t": "unsigned char", "uchar": "unsigned char", "long int": "long", "long unsigned int": "unsigned long",
    "long long int": "long long", "ssize_t": "long", "ptrdiff_t": "long", "int16_t": "short",
    "uint16_t": "unsigned short",
}  # fmt: skip
# No pattern may try a long match from each character of a run: that is quadratic, and a file may have any length.
_ATTRIBUTE = re.compile(r"\[\[[^\[\]]*+\]\]")
_OF_A_NAME = f"{ascii_letters}{digits}_"
SPACE = "kernelmark_edit_"
"""The name, without its number, of the namespace that holds an edited copy."""
_DEFINED = re.compile(r"^([0-9a-fA-F]+) ([TtWw]) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class FunctionSymbol:
    """The function's symbol in the object, and its parameters."""

    symbol: str
    parameters: list[HostParameter]


@dataclass(frozen=True)
class NotFound:
    """Reason why the function cannot be called. `missing`: no other file can see a function of this name; otherwise it
    is a kernel, or takes other arguments. `message` says what the file has, `line` in which line (0: unknown)."""

    missing: bool
    message: str
    line: int = 0


def find(
    candidates: Sequence[Candidate], function: str, given: Sequence[Given], source: str, kernels: Collection[str],
    space: str = "",
) -> FunctionSymbol | NotFound:
    """Find the function of a file among `candidates`, in a namespace. `kernels` are the symbols of kernels: nvcc gives
    each a host function of the same symbol."""
    plain = hidden(source)
    declared = declared_function(plain, function)
    candidates = [candidate for candidate in candidates if candidate.space == space]
    launched = [candidate for candidate in candidates if candidate.symbol not in kernels]
    if candidates and not launched:
        return NotFound(False, f"{function} is a kernel (__global__): the function that launches it has this name, and "
                               "the kernel another", _line_of(plain, function))
    outside = [candidate for candidate in launched if candidate.bound not in "tw"]
    if not outside:
        return NotFound(True, f"{function} is static, or in an unnamed namespace: no other file can call it" if launched
                        else f"no function {function}", _line_of(plain, function) if launched else 0)
    for candidate in outside:
        known = candidate.types if candidate.types is not None else declared.types
        if known is None or (len(known) == len(given) and all(
                type_ in _accepted(wanted) for type_, wanted in zip(known, given, strict=True))):
            return FunctionSymbol(candidate.symbol, _parameters(known, declared.names, given))
    types = outside[0].types
    return NotFound(False, f"{function}({', '.join(types or declared.types or [])}); the assignment calls "
                           f"{function}({', '.join(map(_wanted, given))})", _line_of(plain, function))


class Candidate(NamedTuple):
    """A function of the wanted name: its binding as a letter of `nm`, its symbol, and the types of its parameters; None
    for a symbol of C, which has no types. `space` is the namespace of an edited copy."""

    bound: str
    symbol: str
    types: list[str] | None
    space: str = ""


def candidates(folder: Path, objects: Sequence[str], function: str, until: float) -> list[Candidate]:
    """Return the functions of this name. Raises TooSlow."""
    rows = _DEFINED.findall(output(["nm", *objects], folder, until))
    symbols = [(bound, symbol) for _, bound, symbol in rows if function in symbol]
    mangled = "".join(f"{symbol}\n" for _, symbol in symbols).encode()
    plain = output(["c++filt"], folder, until, mangled).splitlines()
    named: list[Candidate] = []
    for (bound, symbol), name in zip(symbols, plain, strict=False):
        if symbol == function:
            named.append(Candidate(bound, symbol, None))
        elif match := re.fullmatch(
                rf"(?:({SPACE}\d+)::)?(\(anonymous namespace\)::)?{re.escape(function)}\((.*)\)", name):
            types = [_normal(part) for part in split_at_commas(match[3]) if part != "void"]
            named.append(Candidate("t" if match[2] else bound, symbol, types, match[1] or ""))
    return named


def _normal(type_: str) -> str:
    """Return a type in its one spelling, without qualifiers that make no difference to a caller."""
    type_ = re.sub(r"\b(const|volatile|__restrict__|__restrict|restrict|struct)\b", " ", type_)
    type_ = re.sub(r"\[\d*\]\s*$", "*", type_)
    stars = type_.count("*")
    words = " ".join(type_.replace("*", " ").split())
    if "unsigned" in words.split() and words not in _SPELLED:
        # `int unsigned`, `char unsigned`, `long unsigned`
        rest = [word for word in words.split() if word not in ("unsigned", "int")] or ["int"]
        words = "unsigned " + " ".join(rest)
    return _SPELLED.get(words, words) + "*" * stars


def _type_and_name(parameter: str) -> tuple[str, str]:
    """Return the type and the name of a parameter. The name is the last word, "" if that word is the type."""
    left = _ATTRIBUTE.sub(" ", parameter.partition("=")[0]).rstrip()
    before, bracket, sides = left.rpartition("[")
    array = bracket and sides.endswith("]") and (sides == "]" or sides[:-1].isdigit())
    words = before.rstrip() if array else left
    type_ = words.rstrip(_OF_A_NAME)
    name = words[len(type_) :]
    if not name or name[0].isdigit() or not type_ or not (type_[-1].isspace() or type_[-1] in "*&"):
        return parameter, ""
    return f"{type_}[{sides}" if array else type_, name


@dataclass(frozen=True)
class _Declaration:
    types: list[str] | None = None
    names: tuple[str, ...] = ()


def declared_function(source: str, function: str) -> _Declaration:
    """Return the parameters of a function's definition in the file; `types` is None if no definition in plain C is
    found."""
    for match in re.finditer(rf"\b{re.escape(function)}\s*\(([^;{{}}()]*)\)\s*(?:noexcept\s*)?\{{", source):
        declared = split_at_commas(match[1])
        if declared == ["void"] or not declared:
            return _Declaration([])
        types, names = [], []
        for part in declared:
            type_, name = _type_and_name(part)
            types.append(_normal(type_))
            names.append(name)
        return _Declaration(types, tuple(names))
    return _Declaration()


def _line_of(source: str, function: str) -> int:
    match = re.search(rf"\b{re.escape(function)}\s*\([^;{{}}()]*\)\s*(?:noexcept\s*)?\{{", source)
    return source.count("\n", 0, match.start()) + 1 if match else 0


def _accepted(given: Given) -> tuple[str, ...]:
    if isinstance(given, GivenTensor):
        return tuple(f"{type_}*" for type_ in (*_C_TYPES[given.dtype], "void"))
    return _NUMBERS[given.type]


def _wanted(given: Given) -> str:
    return f"{_accepted(given)[0]} {given.name}".replace("* ", " *")


def _parameters(types: Sequence[str] | None, names: Sequence[str], given: Sequence[Given]) -> list[HostParameter]:
    types = [_accepted(argument)[0] for argument in given] if types is None else types
    own = names if len(names) == len(given) else [""] * len(given)
    return [HostParameter(name=name or argument.name, type="pointer" if type_.endswith("*") else type_)
            for type_, name, argument in zip(types, own, given, strict=True)]
