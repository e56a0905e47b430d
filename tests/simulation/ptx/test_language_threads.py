"""What threads of CUDA C++ do together, and how they branch, compiled by nvcc and run from PTX."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.plan.findings import Assertion, UndefinedBehaviour
from grader.plan.limits import LaunchStopped
from grader.simulation.ptx.lanes import Unsupported
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.language.running import COUNT, launch, quiet

pytestmark = needs_nvcc
T = np.arange(COUNT)
LANE, WARP = T % 32, T // 32


def small(seed: int, low: int = -50, high: int = 1000) -> Any:
    return np.random.default_rng(seed).integers(low, high, COUNT, "i4")


def _shuffled(x: Any, y: Any) -> Any:
    def take(lane: Any, within: Any) -> Any:
        return x[32 * WARP + np.where(within, lane, LANE)]

    return (take(LANE ^ 5, True) + 3 * take(LANE - 2, LANE >= 2) + 5 * take(LANE + 3, LANE % 8 + 3 < 8)
            + 7 * take(T * 3 % 32, True))  # fmt: skip


def _ballot(holds: Any) -> Any:
    return (holds.reshape(-1, 32) << np.arange(32)).sum(1)[WARP]


def _voted(x: Any, y: Any) -> Any:
    same = (x.reshape(-1, 32)[WARP] & 3) == (x & 3)[:, None]
    matches = (same << np.arange(32)).sum(1)
    anyone = (x == y).reshape(-1, 32).any(1)[WARP]
    return (_ballot(x > 0) ^ (anyone << 3) ^ (1 << 5) ^ matches).astype("u4").view("i4")


def _reduced(x: Any, y: Any) -> Any:
    a, b = x.reshape(-1, 32), y.reshape(-1, 32)
    return (a.sum(1) ^ a.min(1) ^ np.bitwise_xor.reduce(b, 1))[WARP]


def _grouped(x: Any, y: Any) -> Any:
    elements = x.reshape(-1, 16)
    sums = elements.sum(1)[T // 16] * 3
    return sums + (np.cumsum(elements, 1) - elements).ravel() + elements[:, 2][T // 16] + 16 + T // 16


def _coalesced(x: Any, y: Any) -> Any:
    odd = (x & 1).reshape(-1, 32)
    rank = (np.cumsum(odd, 1) - odd).ravel()
    return np.where(x & 1, rank * 100 + odd.sum(1)[WARP], -1)


def _switched(x: Any, y: Any) -> Any:
    ones = np.bitwise_count(x.view("u4")).astype("i4")
    return np.choose(x & 7, [x + 10, x * 3, (x ^ 0x55) - 7, x - 7, -x, x << 2, y, ones])


def _steps(x: Any, y: Any) -> Any:
    def one(v: int) -> int:
        v, steps = v & 1023, 0
        while v > 1 and steps < 500:
            v = 3 * v + 1 if v & 1 else v // 2
            if v == 17:
                continue
            steps += 1
            if steps == 111:
                break
        return steps

    return np.array([one(v) for v in x.tolist()])


def _counted(x: Any, y: Any) -> Any:
    return np.full(COUNT, (x > 0).sum() * 4 + int((x == 12345).any()) * 2 + int((x < 9).all()))


KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "t_shuffles": _shuffled, "t_votes": _voted, "t_reduced": _reduced, "t_groups": _grouped,
    "t_coalesced": _coalesced, "t_block_scan": lambda x, y: np.cumsum(x) - x, "t_block_sort": lambda x, y: np.sort(x),
    "t_counted": _counted, "t_switch": _switched, "t_loops": _steps,
    "t_local": lambda x, y: sum(x * ((y + k * k) & 15) * k for k in range(16)),
    "t_recursion": lambda x, y: np.array([0, 1, 1, 2, 3, 5, 8, 13, 21])[T % 9],
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_integers_of_threads(kernel: str) -> None:
    x, y = small(1), small(2)
    y[::7] = x[::7]
    assert quiet("threads", kernel, x, y, np.zeros(COUNT, "i4")).tolist() == KERNELS[kernel](x, y).tolist()


def test_floats_of_threads() -> None:
    x, y = (np.random.default_rng(seed).standard_normal(COUNT).astype("f4") for seed in (1, 2))
    out = np.zeros(COUNT, "f4")
    np.testing.assert_allclose(quiet("threads", "t_block_reduce", x, y, out)[0], x.sum(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(quiet("threads", "t_tree", x, y, out, shared=1024)[0], x.sum(), rtol=1e-4, atol=1e-5)
    assert (quiet("threads", "t_copied", x, y, out) == x[::-1] + y).all()
    doubles = quiet("threads", "t_shuffles_wide", x.astype("f8"), y.astype("f8"), np.zeros(COUNT))
    assert (doubles == x[T ^ 1]).all()


def test_pointers_to_functions_need_a_gpu() -> None:
    x = np.zeros(COUNT, "f4")
    with pytest.raises(LaunchStopped) as stopped:
        quiet("threads", "t_pointers", x, x, x)
    assert isinstance(stopped.value.cause, Unsupported)


def test_tensor_cores_by_wmma() -> None:
    a, b = (np.random.default_rng(seed).integers(-4, 5, (16, 16)).astype("f2") for seed in (1, 2))
    result = quiet("threads", "t_wmma", a, b, np.zeros((16, 16), "f4"))
    assert (result == 2 * (a.astype("f4") @ b.T.astype("f4") + 1)).all()


def test_atomics() -> None:
    x = small(3)
    start = np.zeros(16 + COUNT, "i4")
    start[1:4], start[8] = (-(2**31), -1, -1), 77
    result = quiet("threads", "t_atomics", x, x, start)
    assert result[:6].tolist() == [
        x.sum(), x.max(), x.view("u4").min(), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x & 0xF0F0),
        np.bitwise_xor.reduce(x)]  # fmt: skip
    # Counting up to 99 and down from 999, each time from 0 again.
    assert result[6] == COUNT % 100 and result[7] == 1000 - COUNT
    assert result[8] == x[7] and result[9] == (x & 7).sum() and (result[16:] == 1).all()
    f, g = (np.random.default_rng(seed).standard_normal(COUNT).astype("f4") for seed in (4, 5))
    sums = quiet("threads", "t_atomics_float", f, g, np.zeros(COUNT, "f4"))
    np.testing.assert_allclose(sums[:4], f.reshape(-1, 4).sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sums.view("f8")[2], g.astype("f8").sum(), rtol=1e-12)
    long = np.random.default_rng(6).integers(-(2**62), 2**62, COUNT)
    most = quiet("threads", "t_atomics_long", long, long, np.full(COUNT, -(2**63), "i8"))
    assert int(most[0]) % 2**64 == (sum(long.tolist()) + 2**63) % 2**64 and most[1] == long.max()


def test_printf_and_assert() -> None:
    x = small(1)
    found, outcome = launch("threads", "t_printed", x, x, np.zeros(COUNT, "i4"))
    assert (found == x).all() and outcome.printed == f"{x[3]} of {COUNT}: 1.500000\n"
    assert not [finding for finding in outcome.findings if isinstance(finding, Assertion)]


# Kernel: the types of a and b and of c, the sides m, n, k, and whether a, b and c lie in rows in memory.
MATRICES = {
    "m_half_rc": ("f2", "f4", (16, 16, 16), "rcr"), "m_half_rr": ("f2", "f2", (16, 16, 16), "rrc"),
    "m_half_tall": ("f2", "f4", (32, 8, 16), "crr"), "m_half_wide": ("f2", "f4", (8, 32, 16), "rcc"),
    "m_bf16": ("bf16", "f4", (16, 16, 16), "rcr"), "m_tf32": ("f4", "f4", (16, 16, 8), "rrr"),
    "m_signed": ("i1", "i4", (16, 16, 16), "rcr"), "m_bytes": ("u1", "i4", (32, 8, 16), "ccr"),
    "m_double": ("f8", "f8", (8, 8, 4), "rcr"), "m_instructions": ("f2", "f2", (16, 16, 16), "rrr"),
}  # fmt: skip


@each_row("kernel", MATRICES)
def test_matrices(kernel: str) -> None:
    given, taken, (m, n, k), order = MATRICES[kernel]
    random = np.random.default_rng(1)
    a, b, c = (random.integers(0 if given == "u1" else -4, 5, shape) for shape in ((m, k), (k, n), (m, n)))
    if kernel == "m_instructions":
        c = 0 * c

    def stored(matrix: Any, by: str, dtype: str) -> Any:
        lying = np.ascontiguousarray(matrix if by == "r" else matrix.T)
        return (lying.astype("f4").view("u4") >> 16).astype("u2") if dtype == "bf16" else lying.astype(dtype)

    x, y, out = (stored(matrix, by, dtype) for matrix, by, dtype in zip((a, b, c), order, (given, given, taken),
                                                                        strict=True))  # fmt: skip
    result = quiet("matrices", kernel, x, y, out)
    assert ((result if order[2] == "r" else result.T) == a @ b + c).all()


def _produced(x: Any) -> Any:
    steps = [x[(step * 17 + (T * 7) % 128) % 256] * np.float32(step + 1) for step in range(6)]
    return np.where(T >= 128, np.add.accumulate(np.stack(steps))[-1], 0)


BARRIERS: dict[str, Callable[[Any], Any]] = {
    "s_barrier": lambda x: x[255 - T] + x[(256 - T) % 256] + x[(257 - T) % 256], "s_producers": _produced,
    "s_words": lambda x: x[T ^ 37],
    "s_pipeline": lambda x: sum(x[(255 - T + 5 * step) % 256] for step in range(4)),
}  # fmt: skip


@pytest.mark.parametrize("kernel", ["s_barrier_early", "s_producers_early", "s_consumers_early"])
def test_a_missing_wait_is_seen(kernel: str) -> None:
    x = np.zeros(COUNT, "f4")
    _, outcome = launch("barriers", kernel, x, x, x)
    assert [one for one in outcome.findings if isinstance(one, UndefinedBehaviour) and one.what == "shared"]


@pytest.mark.parametrize("kernel", BARRIERS)
def test_barriers_in_shared_memory(kernel: str) -> None:
    x = np.random.default_rng(1).integers(-99, 99, COUNT).astype("f4")
    assert (quiet("barriers", kernel, x, x, np.zeros(COUNT, "f4")) == BARRIERS[kernel](x)).all()
