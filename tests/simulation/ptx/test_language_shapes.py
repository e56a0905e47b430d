"""How students write CUDA C++, compiled by nvcc and run from PTX in several blocks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.language.running import COUNT, quiet

pytestmark = needs_nvcc
BLOCKS = 3
SIZE = BLOCKS * COUNT


def small(seed: int) -> Any:
    return np.random.default_rng(seed).integers(-50, 1000, SIZE, "i4")


def wrapped(value: int, size: int = 32) -> int:
    value &= (1 << size) - 1
    return value - (1 << size) if value >> (size - 1) else value


def _structures(i: int, x: list[int], y: list[int]) -> int:
    first, second, third = x[i], x[i] + 1, [1.0, 2.0, 3.0]
    for _ in range(3):
        first, second, third = first + y[i], wrapped(second * (y[i] - 1), 64), [third[0], 5.0, third[2] + 6]
    return wrapped(first + wrapped(second) + int(sum(third)) + 3000)


def _sorted(i: int, x: list[int], y: list[int]) -> int:
    total = 0
    for value in sorted(x[(i + 7 * k) % SIZE] for k in range(12)):
        total = wrapped(total * 3 + value)
    return total


def _ackermann(m: int, k: int) -> int:
    return k + 1 if m == 0 else _ackermann(m - 1, 1 if k == 0 else _ackermann(m, k - 1))


def _recursion(i: int, x: list[int], y: list[int]) -> int:
    return _ackermann(x[i] & 1, y[i] & 7) + (_ackermann(2, i % 3) if i % 3 else 0)


def _parting(i: int, x: list[int], y: list[int]) -> int:
    v, total = x[i] & 63, 0
    for a in range(v):
        if a % 5 == 3:
            continue
        jumped = False
        for b in range(a, 40):
            if a * b % 11 == 7:
                jumped = True
                break
            if total > 500:
                break
            total += a if b & v else 1
        if not jumped and total > 900:
            return -total
        total ^= a
    return total


def _jumps(i: int, x: list[int], y: list[int]) -> int:
    state, steps, out = x[i] & 7, 0, 5
    while True:
        steps += 1
        if steps > 20:
            return out
        if state == 0:
            state = 5 if y[i] >> min(steps, 31) & 1 else 3
        elif state == 1:
            state, out = 6, out + 1
        elif state == 2:
            state, out = 0, wrapped(out * 3)
        elif state == 3:
            state = 2 if i & 1 else 4
        elif state == 4:
            out, state = out - steps, 7
        elif state == 5:
            state, out = 1, out ^ 0x33
        elif state == 6:
            steps, state = steps + 2, 2
        else:
            if steps > 9:
                return out
            state = 5


def _complex(i: int, x: list[int], y: list[int]) -> int:
    # C's remainder has the sign of the number.
    a, b = (abs(value) % 10 for value in (x[i], y[i]))
    return (a * a + b * b) * 100


KERNELS: dict[str, Callable[[int, list[int], list[int]], int]] = {
    "g_structures": _structures, "g_local": _sorted, "g_recursion": _recursion, "g_parting": _parting,
    "g_jumps": _jumps, "g_complex": _complex,
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_thread_for_itself(kernel: str) -> None:
    x, y = small(1), small(2)
    result = quiet("shapes", kernel, x, y, np.full(SIZE, 5, "i4"), grid=BLOCKS)
    assert result.tolist() == [KERNELS[kernel](i, x.tolist(), y.tolist()) for i in range(SIZE)]


def test_the_last_block_adds() -> None:
    x = small(1)
    result = quiet("shapes", "g_last_block", x, x, np.zeros(128, "i4"), grid=BLOCKS)
    assert result[0] == x.sum() and result[1 : 1 + BLOCKS].tolist() == x.reshape(BLOCKS, -1).sum(1).tolist()


def test_a_grid_that_waits_for_all_its_blocks() -> None:
    x, out = small(1), small(2)
    result = quiet("shapes", "g_grid", x, x, out, grid=BLOCKS, cooperative=True)
    for _ in range(3):
        out = np.roll(out, -300) + x
    assert result.tolist() == out.tolist()


def test_atomics_of_many_widths() -> None:
    x = small(1)
    start = np.zeros(32, "i4")
    result = quiet("shapes", "g_atomics", x, x, start, grid=BLOCKS)
    wide = result[:6].view("i8")
    assert wide[0] == (x.astype("i8") * 1000000007).min()
    assert wide[1] == np.bitwise_or.reduce(np.int64(1) << (x & 63).astype("i8"))
    assert wide[2] == np.bitwise_xor.reduce(x.astype("i8") << 20)
    assert result[6:7].view("f2").tolist() == [SIZE, SIZE / 2]
    # Of bf16, whose sums stop growing where 1 is half a unit.
    assert result[7] == 0x4380 and result[8] == (x & 3).sum() and result[9] == SIZE
    assert result[16 : 16 + BLOCKS].tolist() == [COUNT] * BLOCKS


def test_grids_and_blocks_of_three_axes() -> None:
    result = quiet("shapes", "g_shape", np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(720, "i4"), grid=(2, 3, 2),
                   block=(5, 4, 3))  # fmt: skip
    bz, by, bx, z, y, x = np.indices((2, 3, 2, 3, 4, 5))
    assert result.tolist() == (x * 1000 + y * 100 + z * 10 + by + 0 * bz + 0 * bx).ravel().tolist()
