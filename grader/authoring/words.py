"""Distributions in words, for handouts and tables of cases."""

from __future__ import annotations

from grader.kit.inputs import Bits, Bytes, Distribution, Number, Spread
from grader.kit.whole import Bools, Bound, Distinct, Fixed, Indices, Offsets, OneOf, Values, Whole

# More values than this are described as a range.
MOST_VALUES = 5


def described(*drawn: Distribution, bits: int = 32, one_row: bool = False) -> str:
    """Describe distributions of one kind. Spreads that differ in scale or offset are described by ranges, others one
    after another. `bits` is the width of an element."""
    first = drawn[0]
    if isinstance(first, Values):
        return " or ".join(dict.fromkeys(_value(values) for values in drawn if isinstance(values, Values)))
    if isinstance(first, Number):
        return f"between {number(first.low)} and {number(first.high)}"
    if isinstance(first, Bytes):
        return {2: "0 and 255 alone", 256: "any byte"}.get(first.levels, f"{first.levels} levels from 0 to 255")
    if isinstance(first, Bits):
        return f"any {bits} bits that are a finite number: −0, the smallest and the largest among them"
    return _spread([distribution for distribution in drawn if isinstance(distribution, Spread)], one_row)


def _value(drawn: Values) -> str:
    if isinstance(drawn, Whole):
        return f"whole numbers from {_bound(drawn.low)} to {_bound(drawn.high)}"
    if isinstance(drawn, Indices):
        return f"whole numbers from 0 to {_bound(drawn.high, 1)}, both among them, some often"
    if isinstance(drawn, Distinct):
        return f"whole numbers from 0 to {_bound(drawn.high, 1)}, none twice" + " in a row" * drawn.each_row
    if isinstance(drawn, Offsets):
        return f"offsets of rows, from 0 to {_bound(drawn.total)}: some rows are empty, one is long"
    if isinstance(drawn, Bools):
        return f"true for {100 * drawn.share:g} %"
    if isinstance(drawn, OneOf) and len(drawn.values) > MOST_VALUES:
        low, high = (f"{end:.3g}".replace("-", "−") for end in (min(drawn.values), max(drawn.values)))
        return f"one of {len(drawn.values)} numbers from {low} to {high}"
    if isinstance(drawn, OneOf):
        *most, last = (str(value).removesuffix(".0").replace("-", "−") for value in drawn.values)
        return f"{', '.join(most)} or {last}" if most else last
    assert isinstance(drawn, Fixed)
    return f"{drawn.value}".replace("-", "−")


def _bound(bound: Bound, less: int = 0) -> str:
    if isinstance(bound, int):
        return str(bound - less).replace("-", "−")
    return f"{bound.replace('-', '−')}{f' − {less}' * bool(less)}"


def _spread(spreads: list[Spread], one_row: bool) -> str:
    first = spreads[0]
    low, high = (number(extreme(spread.scale[end] for spread in spreads)) for end, extreme in enumerate((min, max)))
    whose = ", with" if one_row or first.axis is None else f"; each {('row', 'column')[first.axis]} has"
    words = f"normal{whose} a standard deviation of {low}" + f" to {high}" * (low != high)
    if offset := max(spread.offset for spread in spreads):
        words += f" and a mean within ±{number(offset)}" + " standard deviations" * (not first.absolute)
    if first.outliers and first.outliers.exponents:
        low_power, high_power = first.outliers.exponents
        words += f"; one in {first.outliers.every} between ±{2**low_power:,} and ±{2 ** (high_power + 1):,}"
    elif first.outliers:
        words += f"; one in {first.outliers.every} is {first.outliers.times:g} times as large"
    if first.peaks:
        low, high = map(number, first.peaks.lower)
        words += f"; in one row of {first.peaks.every} all but a few neighbours are {low} to {high} less"
    if first.distinct:
        words += "; none twice in a row"
    if first.loud:
        words += f"; half of the {('rows', 'columns')[first.loud.axis]} are {first.loud.times:g} times as large"
    return words


def number(value: float) -> str:
    """Return a number with two significant digits: 0.35, 300, 1e-6."""
    return f"{float(f'{value:.2g}'):g}".replace("e-0", "e-")
