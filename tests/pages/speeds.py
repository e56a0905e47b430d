"""Measured speed made by hand: fast, slow, across the floor, above the roof, one case alone, matrix products.

The times are those of one H200, the noise is drawn; intervals and points come from `grader.results.estimate`.
"""

import random
from dataclasses import dataclass

from grader.results.estimate import Estimate, combine, estimate, points_share
from grader.results.result import Flag, Interval, Performance, Rung, Timing

MOST_POINTS = 40
FLOOR, TARGET = 0.2, 0.9
COPY, PRODUCT, HOST = "device copy", "matrix product", "host to device"
NOTES = ("The clocks were held by the power limit.",
         "SM clock 1740 of at most 1980 MHz, memory clock 3201 MHz, 61 °C, 688 of at most 700 W.")
ABOVE = Flag(what="roof", evidence=(
    "8192x8192: 92.6 µs a call, where this machine's device copy takes at least 129.0 µs for the same work: 139% of "
    "the roof"))


REFERENCE = Rung(name="reference", title="the finished kernel of the course", ratio=3.55)
# Ratios made up, some of them as close as they come.
LADDER = [
    REFERENCE,
    Rung(name="V0 torch", title="`out.copy_(x.t())`", ratio=1.0),
    Rung(name="V1 rowwise", title="a program a row of x: coalesced reads", ratio=0.99),
    Rung(name="V2 writes", title="a program a row of out: coalesced writes", ratio=1.98),
    Rung(name="V3 tiled", title="32×32 tiles, turned through shared memory", ratio=2.9),
    Rung(name="V4 tuned", title="tiles in the order in which `out` is written", ratio=3.52),
]


@dataclass(frozen=True)
class Case:
    """Times of a call in µs, and the spread (one standard deviation) of a block's ratio."""

    sizes: dict[str, int]
    student: float
    baseline: float
    compiled: float | None
    roof: str = ""
    roof_us: float | None = None
    spread: float = 0.004
    blocks: int = 12
    slots: int = 16

    @property
    def name(self) -> str:
        return "x".join(map(str, self.sizes.values()))


@dataclass(frozen=True)
class Speed:
    """An assignment's timed cases and what they were measured against."""

    baseline: str
    compiled: str
    cases: tuple[Case, ...]


def _mn(m: int, n: int) -> dict[str, int]:
    return {"M": m, "N": n}


def _mkn(m: int, k: int, n: int) -> dict[str, int]:
    return {"M": m, "K": k, "N": n}


SPEEDS = {
    "silu": Speed("torch.ops.aten.silu.out", "torch.compile of silu", (
        Case(_mn(8192, 8192), 131.0, 131.4, 130.8, COPY, 123.0),
        Case(_mn(4099, 4093), 36.4, 37.1, 36.9, COPY, 32.1, spread=0.01))),
    "rmsnorm_vector": Speed("x · rsqrt(mean(x²) + eps) · weight, eager", "torch.compile of the same", (
        Case({"N": 65536}, 61.0, 24.1, 9.8, COPY, 0.2, spread=0.03, slots=64),
        Case({"N": 1048576}, 66.2, 29.3, 13.2, COPY, 3.0, spread=0.02, slots=64),
        Case({"N": 16777216}, 398.0, 165.0, 75.0, COPY, 48.4))),
    "rmsnorm_matrix": Speed("torch.nn.functional.rms_norm", "torch.compile of the same", (
        Case({"rows": 8192, "cols": 8192}, 995.0, 200.0, 131.0, COPY, 129.0, spread=0.05, blocks=24),
        Case({"rows": 16384, "cols": 1021}, 240.0, 49.0, 36.0, COPY, 32.3, spread=0.06, blocks=24))),
    "copy_first_column": Speed("out.copy_(matrix[:, 0])", "", (
        Case({"rows": 8192, "cols": 8192}, 28.4, 44.0, None, HOST, 0.6, spread=0.08),)),
    "transpose": Speed("out.copy_(x.t())", "torch.compile of the same", (
        Case(_mn(8192, 8192), 92.6, 467.0, 140.0, COPY, 129.0),
        Case(_mn(8191, 8193), 202.0, 476.0, 211.0, COPY, 129.0))),
    "gemm": Speed("torch.mm(a, b, out=out)", "torch.compile of the same", (
        Case(_mkn(8192, 8192, 8192), 1624.0, 1700.0, 1690.0, PRODUCT, 1617.0, spread=0.002),
        Case(_mkn(4096, 4096, 4096), 212.0, 207.0, 206.5, PRODUCT, 202.0),
        Case(_mkn(8192, 512, 8192), 129.0, 122.0, 121.5, PRODUCT, 101.0))),
}


def timing(case: Case, seed: int = 0) -> Timing:
    dice = random.Random(f"{case.name} {seed}")
    ratios = [case.baseline / case.student * dice.gauss(1, case.spread) for _ in range(case.blocks)]
    return Timing(
        case=case.name, sizes=case.sizes, slots=case.slots, student_us=case.student, baseline_us=case.baseline,
        compiled_us=case.compiled, ratios=ratios, speedup=interval(estimate(ratios)), roof=case.roof,
        roof_us=case.roof_us,
        roof_fraction=case.roof_us / case.student if case.roof_us is not None else None, notes=list(NOTES))


def interval(found: Estimate) -> Interval:
    return Interval(median=found.median, low=found.low, high=found.high)


def performance(name: str, *, faster: float = 1.0, seed: int = 0) -> Performance:
    """The measured speed of an assignment, every call of the student's `faster` times as fast as in SPEEDS."""
    speed = SPEEDS[name]
    cases = [Case(**{**vars(case), "student": case.student / faster}) for case in speed.cases]
    timings = [timing(case, seed) for case in cases]
    found = combine([t.ratios for t in timings])
    return Performance(
        status="measured", points=round(MOST_POINTS * points_share(found, FLOOR, TARGET), 2), max_points=MOST_POINTS,
        speedup=interval(found), floor=FLOOR, target=TARGET, timings=timings, baseline=speed.baseline,
        compiled=speed.compiled)
