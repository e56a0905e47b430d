"""f32, f64 and halves: every rounding against fractions."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.lanes import DTYPES
from grader.simulation.ptx.values import PURE
from grader.simulation.ptx.values.floats import documented
from tests.rows import each_row
from tests.simulation.ptx.exact import awkward, bits, numbers, one, rounded, run, triton

MODES = ["rn", "rz", "rm", "rp"]
COUNT = 1500


def _sum(x: float, y: float) -> Fraction:
    return Fraction(x) + Fraction(y)


def _product(x: float, y: float) -> Fraction:
    return Fraction(x) * Fraction(y)


def _fused(x: float, y: float, z: float) -> Fraction:
    return Fraction(x) * Fraction(y) + Fraction(z)


def _quotient(x: float, y: float) -> Fraction | None:
    return Fraction(x) / Fraction(y) if y else None


OPERATIONS: dict[str, Callable[..., Fraction | None]] = {
    "add": _sum, "sub": lambda x, y: _sum(x, -y), "mul": _product, "fma": _fused, "div": _quotient,
    "rcp": lambda x: _quotient(1.0, x),
}  # fmt: skip


def check(name: str, mode: str, kind: str, sources: list[Any], result: Any = None) -> None:
    """Bit for bit where the sources are finite and the exact result is not 0. The `result` is PTX's unless it is
    given."""
    result = run(f"{name}.{mode}.{kind}", *sources)[0] if result is None else result
    compared = 0
    for number, *given in zip(numbers(result, kind), *(numbers(source, kind) for source in sources), strict=True):
        if not all(map(math.isfinite, given)):
            continue
        exact = OPERATIONS[name](*given)
        if exact is None or not exact:
            continue
        compared += 1
        want = rounded(exact, kind, mode)
        assert bits([number], kind) == bits([want], kind), (name, mode, kind, given, number, want)
    assert compared > COUNT // 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "div", "rcp"])
def test_f32_is_rounded_once(name: str, mode: str) -> None:
    count = {"fma": 3, "rcp": 1}.get(name, 2)
    check(name, mode, "f32", [awkward("f32", COUNT, seed) for seed in range(count)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "div", "rcp"])
def test_f64_is_rounded_once(name: str, mode: str) -> None:
    """Of ordinary sizes, and of any."""
    count = {"fma": 3, "rcp": 1}.get(name, 2)
    check(name, mode, "f64", [awkward("f64", COUNT, seed) for seed in range(count)])
    random = np.random.default_rng(7)
    sources = []
    for seed in range(count):
        fractions = awkward("f64", COUNT, seed).view(np.uint64) % 2**53 | 1
        sources.append(np.ldexp(fractions, random.integers(-70, 70, COUNT)) * random.choice([-1.0, 1.0], COUNT))
    check(name, mode, "f64", sources)


@each_row("kind", ["f16", "bf16"])
@each_row("name", ["add", "sub", "mul", "fma"])
def test_halves_are_rounded_once(name: str, kind: str) -> None:
    check(name, "rn", kind, [awkward(kind, COUNT, seed) for seed in range(3 if name == "fma" else 2)])


IN_TRITON = {
    "add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div.rn": "arith.divf", "fma.rn": "math.fma",
    "sqrt.rn": "math.sqrt", "neg": "arith.negf", "abs": "math.absf", "min": "arith.minnumf", "max": "arith.maxnumf",
    "min.NaN": "arith.minimumf", "max.NaN": "arith.maximumf"}
"""Operations of Triton's IR, by PTX's name for the same."""


@each_row("kind", ["f16", "bf16", "f32", "f64"])
@each_row("name", ["add", "sub", "mul", "fma.rn", "div.rn"])
def test_triton_rounds_once(name: str, kind: str) -> None:
    sources = [awkward(kind, COUNT, seed) for seed in range(3 if name == "fma.rn" else 2)]
    check(name.removesuffix(".rn"), "rn", kind, sources, triton(IN_TRITON[name], kind, *sources))


def test_triton_keeps_what_a_float64_product_loses() -> None:
    x, y = np.random.default_rng(1).standard_normal((2, COUNT))
    check("fma", "rn", "f64", [x, y, -x * y], triton("math.fma", "f64", x, y, -x * y))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("unit", [2.0**-23, 2.0**-149, 2.0**60])
def test_fused_products_that_lie_almost_half_way(unit: float, mode: str) -> None:
    """Half a unit less 2**-47 of one: float64 loses that, and what it has left is rounded to even."""
    random = np.random.default_rng(5)
    # Of 24 bits, or subnormal ones.
    high = 2**23 if unit < 2.0**-140 else 2**24
    c = random.integers(high // 2, high, COUNT) * random.choice([-unit, unit], COUNT)
    root = 2.0 ** (math.floor(math.log2(unit / 2)) // 2)
    a = np.full(COUNT, (1 + 2.0**-23) * root) * random.choice([-1, 1], COUNT)
    b = np.full(COUNT, (1 - 2.0**-23) * unit / 2 / root)
    check("fma", mode, "f32", [value.astype(np.float32) for value in (a, b, c)])
    check("fma", mode, "f32", [value.astype(np.float32) for value in (a, b * (1 + 2.0**-22), c)])


@each_row("mode", MODES)
@each_row("kind", ["f32", "f64"])
def test_roots_are_rounded_once(kind: str, mode: str) -> None:
    values = np.abs(awkward(kind, COUNT, 3))
    values = values[np.isfinite(values) & (values > (2.0**-900 if kind == "f64" else 0))]
    for x, got in zip(values, run(f"sqrt.{mode}.{kind}", values)[0], strict=True):
        exact = Fraction(float(x))
        with np.errstate(over="ignore"):
            above, below = (Fraction(float(np.nextafter(got, got.dtype.type(end)))) for end in (np.inf, 0))
        here = Fraction(float(got))
        if mode == "rn":
            assert ((below + here) / 2) ** 2 <= exact <= ((here + above) / 2) ** 2
        elif mode == "rp":
            assert below**2 < exact <= here**2
        else:
            assert here**2 <= exact < above**2


INF, NAN = math.inf, math.nan
TABLE: list[tuple[str, list[float], float]] = [
    ("add.f32", [INF, -INF], NAN),
    ("add.f32", [-0.0, -0.0], -0.0),
    ("add.sat.f32", [0.75, 0.75], 1),
    ("add.sat.f32", [-3, 1], 0),
    ("add.sat.f32", [NAN, 1], 0),
    ("mul.sat.f32", [-0.0, 1], 0),
    ("add.ftz.f32", [1e-40, 0], 0),
    ("add.ftz.f32", [-1e-40, -0.0], -0.0),
    ("mul.ftz.f32", [1e-30, 1e-10], 0),
    ("mul.f32", [1e-30, 1e-10], float(np.float32(1e-30) * np.float32(1e-10))),
    ("fma.rn.ftz.f32", [1e-20, 1e-20, 0], 0),
    ("fma.rn.sat.f32", [2, 3, 1], 1),
    ("fma.rn.f32", [INF, 0, 1], NAN),
    ("fma.rn.f64", [INF, 1, -INF], NAN),
    ("fma.rn.f64", [1e200, 1e200, 1], INF),
    ("fma.rn.f64", [0.1, 10, -1], 2.0**-54),
    ("mul.rz.f32", [-INF, 1], -INF),
    ("add.rz.f64", [INF, 1], INF),
    ("fma.rz.f64", [INF, 1, 0], INF),
    ("mul.rm.f64", [INF, 2], INF),
    ("div.rz.f64", [-INF, 2], -INF),
    ("sqrt.rz.f32", [INF], INF),
    ("add.rm.f32", [1, -1], -0.0),
    ("add.rm.f64", [0.0, 0.0], 0.0),
    ("sub.rm.f64", [-1, -1], -0.0),
    ("fma.rm.f32", [-1, 0, 0], -0.0),
    ("fma.rn.f64", [1, -0.0, -0.0], -0.0),
    ("fma.rn.f64", [1e300, 1e300, -INF], -INF),
    ("mul.ftz.f16", [-0.00195503, -0.03121948], 2.0**-14),
    ("sin.approx.f32", [-3.3e23], 0),
    ("cos.approx.f32", [3.3e23], 1),
    ("mad.rn.f32", [2, 3, 4], 10),
    ("div.rn.f32", [1, 0], INF),
    ("div.rz.f32", [1, -0.0], -INF),
    ("div.rn.f32", [0, 0], NAN),
    ("div.full.f32", [1, 4], 0.25),
    ("div.approx.f32", [1, 2.0**127], 0),
    ("div.approx.f32", [INF, 2.0**127], NAN),
    ("rcp.approx.f32", [-INF], -0.0),
    ("rcp.approx.ftz.f32", [-1e-40], -INF),
    ("sqrt.rn.f32", [-1], NAN),
    ("sqrt.approx.f32", [-0.0], -0.0),
    ("rsqrt.approx.f32", [0.25], 2),
    ("rsqrt.approx.f32", [0], INF),
    ("rsqrt.approx.f32", [-0.0], -INF),
    ("ex2.approx.f32", [10], 1024),
    ("ex2.approx.f32", [-INF], 0),
    ("lg2.approx.f32", [0], -INF),
    ("lg2.approx.f32", [8], 3),
    ("lg2.approx.f32", [-1], NAN),
    ("tanh.approx.f32", [INF], 1),
    ("sin.approx.f32", [INF], NAN),
    ("cos.approx.f32", [0], 1),
    ("abs.f32", [-0.0], 0),
    ("neg.f32", [0.0], -0.0),
    ("abs.ftz.f32", [-1e-40], 0),
    ("min.f32", [NAN, 1], 1),
    ("min.f32", [0.0, -0.0], -0.0),
    ("max.f32", [-0.0, 0.0], 0),
    ("max.f32", [-0.0, -0.0], -0.0),
    ("max.f32", [NAN, NAN], NAN),
    ("max.NaN.f32", [NAN, 1], NAN),
    ("max.xorsign.abs.f32", [-3, 2], -3),
    ("min.xorsign.abs.f32", [-3, -2], 2),
    ("min.f64", [2, 1], 1),
    ("copysign.f32", [-1, 3], -3),
    ("copysign.f64", [0.0, -3], 3),
    ("max.f16", [NAN, 2], 2),
    ("min.NaN.f16", [NAN, 2], NAN),
    ("add.sat.f16", [0.75, 0.75], 1),
    ("add.ftz.f16", [2.0**-24, 0], 0),
    ("add.f16", [2.0**-24, 0], 2.0**-24),
    ("add.f16", [65504, 32], INF),
    ("fma.rn.relu.f16", [-1, 1, 0.5], 0),
    ("neg.f16", [0.0], -0.0),
    ("abs.f16", [-2], 2),
    ("ex2.approx.f16", [3], 8),
    ("tanh.approx.f16", [0], 0),
]


@each_row(("instruction", "sources", "want"), TABLE)
def test_float_instructions(instruction: str, sources: list[float], want: float) -> None:
    kind = instruction.rsplit(".")[-1]
    assert bits([one(instruction, *sources)], kind) == bits([want], kind)


@each_row(("name", "kind", "sources", "want"), [
    (name, kind, sources, want) for instruction, sources, want in TABLE
    for name, _, kind in [instruction.rpartition(".")] if name in IN_TRITON])
def test_operations_of_triton(name: str, kind: str, sources: list[float], want: float) -> None:
    assert bits(triton(IN_TRITON[name], kind, *([source] for source in sources)), kind) == bits([want], kind)


@each_row(("name", "reference", "low", "high", "error"), [
    ("ex2.approx", np.exp2, -126, 127, 2.0**-22), ("lg2.approx", np.log2, 2, 1e30, 2.0**-22),
    ("sin.approx", np.sin, -3, 3, 2.0**-20), ("cos.approx", np.cos, -3, 3, 2.0**-20),
    ("tanh.approx", np.tanh, -10, 10, 2.0**-11), ("rsqrt.approx", lambda x: x**-0.5, 1e-30, 1e30, 2.0**-22),
])  # fmt: skip
def test_approximations_keep_ptx_bounds(name: str, reference: Any, low: float, high: float, error: float) -> None:
    values = np.random.default_rng(1).uniform(low, high, 5000).astype(np.float32)
    exact = reference(values.astype(np.float64))
    scale = np.ones(()) if name in ("sin.approx", "cos.approx") else np.abs(exact)
    assert (np.abs(run(f"{name}.f32", values)[0] - exact) <= error * scale).all()


@each_row("name", ["add", "mul", "fma.rn", "min", "max.NaN", "neg", "abs", "ex2.approx"])
@each_row("kind", ["f16", "bf16"])
def test_pairs_are_two_halves(name: str, kind: str) -> None:
    count = len(run_types(f"{name}.{kind}"))
    low, high = ([awkward(kind, 200, seed + part) for seed in range(count)] for part in (0, 50))
    packed = [bits_of(a) | bits_of(b) << np.uint32(16) for a, b in zip(low, high, strict=True)]
    result = run(f"{name}.{kind}x2", *packed)[0]
    assert ((result & np.uint32(0xFFFF)) == bits_of(run(f"{name}.{kind}", *low)[0])).all()
    assert ((result >> np.uint32(16)) == bits_of(run(f"{name}.{kind}", *high)[0])).all()


def run_types(instruction: str) -> tuple[str, ...]:
    name, *modifiers = instruction.split(".")
    return PURE[name](tuple(modifiers)).sources


def bits_of(values: Any) -> Any:
    return np.asarray(values).view(np.uint16).astype(np.uint32)


def test_shapes_broadcast() -> None:
    """Values of a thread, of a block and of all are arrays of two axes, of one of length 1, and of none."""
    block, thread, every = np.ones((3, 1), np.float32), np.ones((3, 5), np.float32), np.ones((), np.float32)
    assert run("fma.rn.f32", block, thread, every)[0].shape == (3, 5)
    assert run("add.f16x2", block.view(np.uint32), every.view(np.uint32))[0].shape == (3, 1)
    assert run("add.f16x2", every, every)[0].shape == ()
    assert run("cvt.rn.f16x2.f32", thread, every)[0].shape == (3, 5)
    assert run("setp.lt.f16x2", thread, block)[1].shape == (3, 5)


def test_what_is_left_out_is_not_written_through() -> None:
    """Sources stay as they are."""
    source = np.array([1.0, 2.0], np.float32)
    run("cvt.f32.f32", source)[0][...] = 7
    assert DTYPES["f32"] == source.dtype and source.tolist() == [1, 2]


@pytest.mark.parametrize(("name", "modifiers", "bound"), [
    ("tanh", ("approx", "f32"), 2.0**-11), ("rcp", ("approx", "ftz", "f32"), 2.0**-23),
    ("ex2", ("approx", "f32"), 2.0**-22), ("div", ("full", "f32"), 2.0**-22), ("rsqrt", ("approx", "f32"), 2.0**-22.9)])
def test_approximations_are_off_by_what_is_documented_either_way(
    name: str, modifiers: tuple[str, ...], bound: float
) -> None:
    erring = documented(name, modifiers)
    assert erring is not None
    exact = np.linspace(0.01, 0.99, 1000, dtype=np.float32)
    found, again, later = erring(exact, 7), erring(exact, 7), erring(exact, 8)
    off = found.astype(np.float64) / exact - 1
    assert (np.abs(off) <= bound).all() and np.abs(off).max() > bound / 2
    assert (off > 0).any() and (off < 0).any() and (found == again).all() and (found != later).any()
    special = np.array([0, np.inf, -np.inf, np.nan], np.float32)
    with np.errstate(all="ignore"):
        assert np.array_equal(erring(special, 7), special, equal_nan=True)


@pytest.mark.parametrize(("name", "exact"), [("ex2", True), ("cos", True), ("rcp", False)])
def test_what_is_1_at_0_is_not_off_there(name: str, exact: bool) -> None:
    erring, one = documented(name, ("approx", "f32")), np.ones(1, np.float32)
    assert erring is not None and all(erring(one, time)[0] == 1 for time in range(32)) == exact


@pytest.mark.parametrize(("name", "modifiers"), [
    ("div", ("rn", "f32")), ("sqrt", ("rn", "f32")), ("rcp", ("approx", "ftz", "f64")), ("add", ("f32",))])
def test_what_is_rounded_is_not_off(name: str, modifiers: tuple[str, ...]) -> None:
    assert documented(name, modifiers) is None
