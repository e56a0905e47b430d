"""Kernels that draw many calls at once, and look for a pattern of bits in many tensors, in Triton's interpreter."""

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
import torch
from torch import Tensor

from grader.course.parameters import value_of
from grader.home import ROOT
from grader.judging.answers.compare import POISON, poison_, poison_mask
from grader.kit.fused import draws
from grader.kit.inputs import (
    Bits,
    Bytes,
    Distribution,
    Loud,
    Outliers,
    Spread,
    Tables,
    as_matrix,
    partner_tables,
    tables,
)
from grader.kit.whole import Bools, Indices, Whole
from tests.rows import each_row

# A process that imports torch and triton, where others do as much.
SECONDS = 240
SLOTS = 2
SIZES = {"V": 77}
GAP = 48
LANES, ROUNDS = 256, 7

PROGRAM = """
import sys
import torch
from grader.kit.fused import LANES, ROUNDS, draw_all
assert (LANES, ROUNDS) == (256, 7)
SIZES = {"V": 77}
tasks = torch.load(sys.argv[1], weights_only=False)
for distribution, shape, memory, starts, keys, found in tasks:
    draw_all(distribution, shape, memory, starts, keys, found, SIZES)
torch.save([task[2] for task in tasks], sys.argv[2])
"""


@dataclass(frozen=True)
class Task:
    distribution: Distribution
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32


TASKS = {
    "a vector, longer than a program's share": Task(Spread(scale=(0.5, 2.0), offset=1.0), (2500,)),
    "rows, with outliers that are multiples": Task(Spread(outliers=Outliers(256, times=30.0)), (3, 1300)),
    "rows, with outliers of many sizes": Task(
        Spread(offset=2.0, absolute=True, outliers=Outliers(64, exponents=(3, 6))), (5, 600)),
    "rows of few numbers, all distinct": Task(Spread(scale=(0.3, 3.0), offset=1.0, distinct=True), (50, 33)),
    "one row of distinct numbers": Task(Spread(distinct=True), (1, 1100)),
    "columns with scales": Task(Spread(scale=(0.3, 3.0), axis=1), (30, 130)),
    "one scale for all": Task(Spread(scale=(0.5, 10.5), axis=None, even=True), (7, 33)),
    "bits": Task(Bits(), (5, 700)),
    "bytes": Task(Bytes(), (3, 5, 300), torch.uint8),
    "a few bytes": Task(Bytes(levels=6), (3, 1300), torch.uint8),
    "whole numbers": Task(Whole(-128, 127), (3, 5, 300), torch.int8),
    "labels, by a size": Task(Indices("V - 7", repeats=0.4), (2500,), torch.int64),
    "many rows": Task(Indices(1 << 31, repeats=0.25), (5, 300), torch.int32),
    "bools": Task(Bools(0.2), (3, 700), torch.bool),
    "loud columns": Task(Spread(axis=0, loud=Loud(axis=1, sign=1)), (9, 70), torch.float16),
    "loud rows": Task(Spread(axis=1, loud=Loud(axis=0, sign=-1)), (6, 300), torch.float16),
}


def philox(key: int, counter: tuple[int, int]) -> tuple[int, int, int, int]:
    """Philox-4x32 as its authors give it, with a counter whose upper half is zero."""
    low, high, mask = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF, 0xFFFFFFFF
    c0, c1, c2, c3 = *counter, 0, 0
    for _ in range(ROUNDS):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ low, second & mask, first >> 32 ^ c3 ^ high, first & mask
        low, high = (low + 0x9E3779B9) & mask, (high + 0xBB67AE85) & mask
    return c0, c1, c2, c3


def element(task: Task, found: Tables | None, slot: int, key: int, row: int, column: int) -> float | int:
    """One element, in the arithmetic of the tensor's type."""
    _, columns = as_matrix(task.shape)
    spread = task.distribution
    down = isinstance(spread, Spread) and spread.loud is not None and spread.loud.axis == 1
    if flat := not (isinstance(spread, Spread) and spread.loud):
        row, column, columns = 0, row * columns + column, task.shape[0] * columns
    across = -(-columns // (LANES if down else 4 * LANES))

    def bits(row: int, column: int) -> int:
        if down:
            return philox(key, (row // 4 * across * LANES + column, 0))[row % 4]
        at = column // (4 * LANES) * LANES + column % LANES
        return philox(key, (row * across * LANES + at, 0))[column // LANES % 4]

    word = bits(row, column)
    if isinstance(spread, Bits):
        return word & ~0x00800000 if word & 0x7F800000 == 0x7F800000 else word
    if isinstance(spread, Bytes):
        # In floats: an integer is what the bits of a number are.
        return float((word >> 16) * spread.levels // 2**16 * (255 // (spread.levels - 1)))
    if isinstance(spread, Bools):
        return float(word < math.ceil(spread.share * 2**32))
    if isinstance(spread, Whole | Indices):
        least, most = (spread.low, spread.high) if isinstance(spread, Whole) else (0, value_of(spread.high, SIZES) - 1)
        assert isinstance(least, int) and isinstance(most, int)
        at = column // (4 * LANES) * LANES + column % LANES
        again = philox(key, (row * across * LANES + at, 1))[column // LANES % 4]
        if isinstance(spread, Indices) and again < math.ceil(spread.repeats * 2**32):
            secret = philox(key, (0, 2))[0] * (most + 1) >> 32
            return float((0, most, secret)[again % 3])
        return float(least + (word * (most - least + 1) >> 32))
    assert isinstance(spread, Spread) and found is not None
    width = task.shape[-1]
    index = 0 if spread.axis is None else (divmod(column, width) if flat else (row, column))[spread.axis]
    scale, offset = (numpy.float32(table[slot, index]) for table in (found.scale, found.offset))

    def number(word: int) -> numpy.float32:
        both = numpy.float32((word & 0xFFFF) + (word >> 16) - 65535)
        return numpy.float32(offset + scale * (both * numpy.float32(6**0.5 / 2**16)))

    x = number(word)
    if spread.outliers is not None:
        every = spread.outliers.every
        group = (row * across * 4 + column // LANES) * (LANES // every) + column % LANES // every
        place, fraction, power, _ = philox(key, (group, 1))
        if place % every == column % every:
            x = numpy.float32(x * numpy.float32(spread.outliers.times))
            if spread.outliers.exponents is not None:
                low, high = spread.outliers.exponents
                exponent = 127 + low + (power >> 8) % (high - low + 1)
                pattern = exponent << 23 | fraction & 0x807FFFFF
                x = numpy.array([pattern], dtype=numpy.uint32).view(numpy.float32)[0]
    if spread.distinct:
        return distinct(x, key, *divmod(column, width), (width - 1).bit_length())
    if spread.loud is None:
        return float(x)
    assert found.partner is not None
    position = (row, column)[spread.loud.axis]
    partner = int(found.partner[slot, position])
    if partner < 0:
        return float(numpy.float16(x))
    its = (partner, column) if spread.loud.axis == 0 else (row, partner)
    early = numpy.float16(numpy.float32(numpy.float16(number(bits(*its)))) * spread.loud.times)
    if partner == position:
        return float(early)
    quiet = numpy.float16(numpy.float32(numpy.float16(x)) / numpy.float32(spread.loud.times))
    return float(numpy.float16(numpy.float32(quiet) + spread.loud.sign * numpy.float32(early)))


def distinct(x: numpy.float32, key: int, row: int, column: int, bits: int) -> float:
    first, second = (philox(key, (row, stream)) for stream in (3, 4))
    own = column
    for factor, term in (first[:2], first[2:], second[:2]):
        own = (own * (factor | 1) + term) % 2**bits
        own ^= own >> (bits + 1) // 2
    pattern = int(x.view(numpy.uint32)) >> bits << bits | own
    return float(numpy.array([pattern], dtype=numpy.uint32).view(numpy.float32)[0])


Given = tuple[Distribution, tuple[int, ...], Tensor, Tensor, Tensor, Tables | None]


def given(task: Task, seed: int) -> Given:
    generator = torch.Generator().manual_seed(seed)
    rows, columns = as_matrix(task.shape)
    step = -(-rows * columns // 16) * 16 + GAP
    memory = torch.empty(SLOTS * step + GAP, dtype=task.dtype)
    poison_(memory)
    starts = torch.arange(SLOTS) * step + GAP
    keys = torch.randint(-(2**62), 2**62, (SLOTS,), generator=generator)
    found = None
    if isinstance(task.distribution, Spread):
        partner = partner_tables({"x": task.distribution}, {"x": task.shape}, SLOTS, generator).get("x")
        found = tables(task.distribution, task.shape, SLOTS, partner, generator)
    return task.distribution, task.shape, memory, starts, keys, found


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Given, Tensor]]:
    folder: Path = tmp_path_factory.mktemp("fused")
    tasks = {name: given(task, seed) for seed, (name, task) in enumerate(TASKS.items())}
    torch.save(list(tasks.values()), folder / "tasks")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "tasks"), str(folder / "drawn")],
        env=os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=SECONDS, check=False)
    assert result.returncode == 0, result.stderr
    memories = torch.load(folder / "drawn", weights_only=True)
    return {name: (task, memory) for (name, task), memory in zip(tasks.items(), memories, strict=True)}


@pytest.mark.parametrize("name", TASKS)
def test_every_bit_is_as_written_down(drawn: dict[str, tuple[Given, Tensor]], name: str) -> None:
    task, ((_, shape, _, starts, keys, found), memory) = TASKS[name], drawn[name]
    rows, columns = as_matrix(shape)
    dice = torch.Generator().manual_seed(0)
    for slot in range(SLOTS):
        start = int(starts[slot])
        tensor = memory[start : start + rows * columns].view(rows, columns)
        places = torch.randint(rows * columns, (1500,), generator=dice).tolist()
        for row, column in {divmod(place, columns) for place in places}:
            right = element(task, found, slot, int(keys[slot]), row, column)
            got = tensor[row, column]
            if isinstance(right, int):
                assert int(got.view(torch.int32)) & 0xFFFFFFFF == right
            else:
                assert float(got) == right, (row, column)
        assert bool(tensor.isfinite().all())


@each_row("name", TASKS)
def test_nothing_is_written_beside_a_tensor_and_no_two_are_alike(
    drawn: dict[str, tuple[Given, Tensor]], name: str
) -> None:
    (distribution, shape, _, starts, _, _), memory = drawn[name]
    rows, columns = as_matrix(shape)
    inside = torch.zeros(len(memory), dtype=torch.bool)
    slots = []
    for start in starts.tolist():
        inside[start : start + rows * columns] = True
        slots.append(memory[start : start + rows * columns])
    beside = memory.view(torch.uint8)[~inside].view(torch.bool) if memory.dtype == torch.bool else memory[~inside]
    assert bool(poison_mask(beside).all())
    alike = {Bytes: 1 / getattr(distribution, "levels", 1), Indices: 0.2, Bools: 0.68}.get(type(distribution), 0)
    assert float((slots[0] == slots[1]).double().mean()) < alike + 0.05


@pytest.mark.parametrize(("shape", "dtype", "loud", "by_kernel"), [
    ((4, 1 << 23), torch.float32, None, True),
    ((2, (1 << 23) + 1), torch.float32, None, False),
    ((1 << 8, 1 << 23), torch.float32, None, False),
    ((4, 64), torch.float16, None, False),
    ((4, 64), torch.float32, Loud(axis=0, sign=1), False),
], ids=["as many as bits tell apart", "more", "a matrix too large", "fewer bits", "loud positions"])
def test_distinct_numbers_are_drawn_by_the_kernel_where_it_can(
    shape: tuple[int, ...], dtype: torch.dtype, loud: Loud | None, by_kernel: bool
) -> None:
    assert draws(Spread(distinct=True, loud=loud), shape, dtype, {}) == by_kernel


def test_philox_is_the_published_one() -> None:
    """The known answer of ten rounds for a zero key and counter, from the authors' own test vectors."""
    global ROUNDS
    before, ROUNDS = ROUNDS, 10
    try:
        assert philox(0, (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    finally:
        ROUNDS = before


# A process that imports torch and triton, where others do as much.
HOLDS = """
import json, sys
import torch
from grader.kit.holds import BLOCK, holds

for name, bits in json.loads(sys.argv[1]):
    # The last block of each is shorter than the others.
    tensors = [torch.zeros(2 * BLOCK + 11, dtype=getattr(torch, name)) for _ in range(3)]
    holding = [holds(tensors, bits).tolist()]
    for tensor, place in (1, -1), (0, 0), (2, BLOCK):
        tensors[tensor][place] = bits
        holding.append(holds(tensors, bits).tolist())
    print(json.dumps(holding))
"""
FOUND = [[False, False, False], [False, True, False], [True, True, False], [True, True, True]]


@pytest.fixture(scope="module")
def holding() -> dict[tuple[str, int], list[list[bool]]]:
    asked = [(str(dtype).removeprefix("torch."), bits) for dtype, bits in POISON.values()]
    result = subprocess.run(
        [sys.executable, "-c", HOLDS, json.dumps(asked)], check=False, capture_output=True, text=True,
        env=os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    return dict(zip(asked, map(json.loads, result.stdout.splitlines()), strict=True))


def test_every_poison_is_found_in_the_tensor_that_holds_it(holding: dict[tuple[str, int], list[list[bool]]]) -> None:
    assert holding == dict.fromkeys(holding, FOUND)
