"""What kernels of students use beside plain arithmetic: each gives what a GPU gives."""

from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.lanes import Array
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import beside
from tests.simulation.ptx.launching import compiled, run, tensor

pytestmark = needs_nvcc

COUNT = 1024
KERNELS = beside(__file__)


def _output(body: str, *, before: str = "", grid: Any = 1, block: Any = 256, **options: Any) -> Array:
    """The output (float32) of a kernel `(const float* x, float* y, int n, float f)` on the numbers from 0 on."""
    text = compiled(f"{before}\n__global__ void k(const float* x, float* y, int n, float f) {{\n{body}\n}}\n")
    out = tensor(np.zeros(COUNT, "f4"), "y")
    outcome = run(text, grid, block, tensor(np.arange(COUNT, dtype="f4"), "x"), out, COUNT, 0.5,
                  entry=next(line.split()[2].rstrip("(") for line in text.splitlines() if ".entry" in line), **options)
    assert outcome.findings == []
    return out.values("f4")


T = np.arange(256)
# The answer of a kernel, and how it is launched.
RIGHT: dict[str, tuple[Any, dict[str, Any]]] = {
    "vectors": (lambda y: (y[:512:2] == 8 * T + 3).all() and (y[1:512:2] == (4 * T + 1) * (4 * T + 2)).all(), {}),
    "calls": (lambda y: (y[:8] == np.array([0, 1, 1, 2, 3, 5, 8, 13]) + 2 * T[:8]).all(), {}),
    "a ring": (lambda y: (y[:256] == 766 - 2 * T + 1023 * 512 - 1).all(), {}),
    "lock": (lambda y: y[0] == 16, {"grid": 2}),
    "constants": (lambda y: (y[:4] == [11, 12, 14, 18]).all(), {}),
    "named barriers": (
        lambda y: (y[:256] == np.where(T < 128, 127, 383) - T).all() and (y[256:512] == 78).all(), {}),
    "named barriers of registers": (lambda y: (y[:128] == T[:128]).all() and (y[128:256] == T[:128]).all(), {}),
    "async copies": (
        lambda y: (y[:5] == 0).all() and (y[5:256] == 255 - T[5:]).all() and (y[257:512:2] == T[1::2]).all(), {}),
    "a policy of the cache": (lambda y: (y[:256] == T).all(), {}),
    "few threads of many blocks": (
        lambda y: (y[:256] == 255 - T + (T % 8 == 0) + (T ^ 1) * (T // 32 == 2)).all(), {"grid": 1200}),
    "either of two tensors": (lambda y: (y[:256] == T * (T & 1)).all(), {}),
    "serial": (lambda y: (y[:64] == 1023 * 512).all(), {"grid": 64}),
    "different lengths": (lambda y: np.allclose(y, np.arange(1024).cumsum(), rtol=1e-6), {"grid": 4}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_kernels(name: str) -> None:
    right, options = RIGHT[name]
    y = _output(**KERNELS[name], **options)
    assert right(y), y


def test_an_atomic_sum_returns_the_sum_of_its_own_element_alone() -> None:
    # In few long groups, and in many short ones.
    for each in (8, 2):
        found = _output(f"    int t = threadIdx.x;\n    y[16 + t] = atomicAdd(y + t / {each}, t < {each} ? 1e20f : "
                        f"t == {2 * each} ? INFINITY : 1.0f + t * 0x1p-23f);\n", block=32)
        terms = (1 + T[:32] * 2.0**-23).astype("f4").reshape(-1, each)
        terms[0], terms[2, 0] = 1e20, np.inf
        sums = np.add.accumulate(np.column_stack([np.zeros(len(terms), "f4"), terms]), axis=1)
        assert (found[16:48].reshape(-1, each) == sums[:, :-1]).all() and (found[: len(terms)] == sums[:, -1]).all()


def test_printf_takes_widths_and_short_numbers() -> None:
    text = compiled("""#include <cstdio>
__global__ void k(int n) { printf("[%5s][%-3s][%.1s][%hd][%hhu][%3c]\\n", "ab", "c", "de", n, n, 'x'); }""")
    assert run(text, 1, 1, 70_000).printed == "[   ab][c  ][d][4464][112][  x]\n"
