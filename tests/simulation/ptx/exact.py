"""An oracle of its own kind: floats as fractions, rounded by the definition. Instructions of PTX and operations of
Triton's IR on tables of values."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.arithmetic import elementwise
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import Type, decode, encode
from grader.simulation.ptx.lanes import DTYPES
from grader.simulation.ptx.values import PURE

FORMATS = {"f16": (11, 15), "bf16": (8, 127), "f32": (24, 127), "f64": (53, 1023)}
"""Bits of precision and the largest exponent."""


def run(instruction: str, *sources: Any) -> tuple[Any, ...]:
    """The results of `fma.rn.f32` and the like; sources are taken as the types that it says."""
    name, *modifiers = instruction.split(".")
    words = tuple(modifiers)
    types, results, function = PURE[name](words)
    assert len(types) == len(sources)
    result = evaluate(function, [_array(source, kind) for kind, source in zip(types, sources, strict=True)])
    for kind, value in zip(results, result, strict=True):
        assert value.dtype == DTYPES[kind], (instruction, kind, value.dtype)
    return result


def triton(name: str, kind: str, *sources: Any) -> Any:
    """The result of `arith.addf` and the like, of arrays of a PTX type."""
    element = f"i{kind[1:]}" if kind[0] in "us" else kind
    shape = Type((len(sources[0]),), element)
    function = elementwise(Op(name, types=[shape], inputs=[shape] * len(sources)))
    assert function is not None
    dtype = DTYPES[kind]
    given = [decode(_array(source, kind).view(f"i{dtype.itemsize}" if kind[0] in "us" else dtype), element)
             for source in sources]
    (found,) = evaluate(function, given)
    return np.asarray(encode(found, element)).view(dtype)


def evaluate(function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a rule's function as arrays."""
    with np.errstate(all="ignore"):
        results = function(*arrays)
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else (np.asarray(results),)


def _array(source: Any, kind: str) -> Any:
    """Python's integers must not pass through float64."""
    dtype = DTYPES[kind]
    if dtype.kind not in "iu" or isinstance(source, np.ndarray | np.generic):
        return np.asarray(source).astype(dtype)
    return np.asarray(np.array(source, object) % 2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").astype(dtype)


def one(instruction: str, *sources: Any) -> Any:
    """The first result as a list, or a number."""
    return run(instruction, *sources)[0].tolist()


def rounded(value: Fraction, kind: str, mode: str = "rn") -> float:
    """A number other than 0 as the nearest one of a type, ties to even, or as the next one in a direction."""
    precision, largest = FORMATS[kind]
    magnitude, sign = abs(value), -1.0 if value < 0 else 1.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    unit = Fraction(2) ** (max(exponent, 1 - largest) - precision + 1)
    units, rest = divmod(magnitude, unit)
    away = (mode == "rp") == (value > 0) if mode in ("rp", "rm") else False
    half = Fraction(rest, unit)
    if half and (away or (mode == "rn" and (half > Fraction(1, 2) or (half == Fraction(1, 2) and units % 2)))):
        units += 1
    highest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** largest
    if units * unit > highest:
        return sign * (math.inf if mode == "rn" or away else float(highest))
    return sign * float(units * unit)


def bits(values: Any, kind: str) -> list[int]:
    """Floats of a type as their bit patterns, with one NaN for all."""
    if kind == "bf16":
        result = (np.asarray(values, np.float32).view(np.uint32) >> np.uint32(16)).tolist()
    else:
        array = np.asarray(values, DTYPES[kind])
        result = array.view(f"u{array.itemsize}").tolist()
    listed = np.isnan(np.asarray(values, np.float64)).tolist()
    return [-1 if unknown else pattern for pattern, unknown in zip(result, listed, strict=True)]


def awkward(kind: str, count: int, seed: int) -> Any:
    """Floats of a type in which roundings differ: any bits, few bits, neighbours of powers of two, subnormal ones."""
    random = np.random.default_rng(seed)
    size = 2 if kind == "bf16" else DTYPES[kind].itemsize
    whole = np.dtype(f"u{size}")
    patterns = random.integers(0, 2 ** (8 * size), count, np.uint64).astype(whole)
    precision, largest = FORMATS[kind]
    few = (largest + random.integers(-20, 20, count)).astype(whole) << whole.type(precision - 1)
    few += random.integers(-2, 3, count).astype(whole)
    middle = few ^ (whole.type(1) << random.integers(0, precision - 1, count).astype(whole))
    tiny = random.integers(1, 2 ** (precision - 2), count, np.uint64).astype(whole)
    chosen = np.choose(random.integers(0, 4, count), [patterns, few, middle, tiny])
    chosen ^= random.integers(0, 2, count).astype(whole) << whole.type(8 * size - 1)
    return chosen if kind == "bf16" else chosen.view(DTYPES[kind])


def numbers(values: Any, kind: str) -> Sequence[float]:
    """Values of a type as Python's floats."""
    array = np.asarray(values)
    if kind == "bf16":
        array = (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    with np.errstate(invalid="ignore"):
        found: list[float] = array.astype(float).tolist()
    return found
